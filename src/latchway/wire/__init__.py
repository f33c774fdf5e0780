"""The Responses API on the wire: bytes to values and back. Pure: no I/O, no clock."""
