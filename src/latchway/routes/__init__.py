"""Which route a turn is called on, and which one its replay would go to (R1.7, R3, R10)."""
