"""What is true: the workflow language, the decider and its events.

Law: pure. Nothing here does I/O, reads a clock, draws randomness or logs. A function of this room
given the same arguments gives the same answer on every machine, for ever.

It may use the pure libraries msgspec, jsonschema, rfc8785, re2 and yaml (ADR 2).
"""
