"""Runs: one autonomous drive of a session by a worker, as a conversation with a model."""
