"""Crashing on purpose: real servers killed under load, clients that ask again, and the reckoning.

`make crash`. Agents follow workflows on one home, some over HTTP, some through relays, one through
a server process of its own, while the server is killed with SIGKILL, stopped as if its disk hung,
and kept from writing as if its disk were full. At the end every session must have finished, the
ledger must hold each acknowledged advance once and nothing twice, and `headway verify` must agree.
"""
