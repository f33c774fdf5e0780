"""A turn sent to any Responses URL, with every event as it comes: `latchway watch`.

For people who debug a provider. What is shown is what the gateway would see: its connection, its
parsers and its turn are at work here, and no second copy of them that could differ.
"""
