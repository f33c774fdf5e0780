"""What the gateway would do with a request, said beforehand: `latchway explain`.

Nothing is called and nothing is written. `plan.py` asks the gateway's own functions, `show.py` says
it to people; there is no second copy of a rule here that could differ from the first.
"""
