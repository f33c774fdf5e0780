"""The heart: what the gateway does with a turn. Pure: values in, values out, time is an argument.

Read `decide.py` first.
"""
