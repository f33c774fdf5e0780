"""A gateway for LLM streams. Read `turn/decide.py` first: it holds the one rule."""

__version__ = "0.1.0"
