"""Rotate the keys that sign tokens: a new one signs, the one before stays good until the next."""

from headway.application.engine import Engine


def rotate_keys(engine: Engine) -> bool:
    """Draw a new key; return whether tokens of the key before it stay good."""
    return engine.keyring.rotate().previous is not None
