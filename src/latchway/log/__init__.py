"""What is told about turns: one record for each, and the figures of `/metrics`."""
