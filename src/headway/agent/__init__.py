"""The agent: what drives a model through a session, one turn at a time.

Asynchronous. It asks the engine and the world through ports and verbs alone, and what it does is
recorded before it has an effect.
"""
