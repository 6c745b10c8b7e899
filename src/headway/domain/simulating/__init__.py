"""Driving a workflow through the real decider, without a store, to see which of its ways can go.

`branches.py` names what there is to take, `simulate.py` takes it, and `report.py` says what was
taken and why the rest was not. Nothing here reads a clock or draws chance: a seed turns the order
in which values are tried, and a budget of advances bounds the work.
"""
