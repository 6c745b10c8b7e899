"""What we ask of the world: small protocols, and the plain values that cross them.

A port's method says what it promises and which faults it raises. Pure functions are never ports.
"""
