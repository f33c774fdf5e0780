"""Money: what a turn may cost, what it did cost, and the database that will not let it be wrong.

`prices` and `reservation` are pure. `sqlite` is the book itself, one synchronous class over one
connection; `writer` gives it a thread and is the port that turns use. `control` lets the commands
write while a gateway runs; `report` and `verify` only read. The rules that must hold whatever the
code does stand in `schema.sql`, as constraints and triggers.
"""
