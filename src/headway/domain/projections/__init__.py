"""Projections: folds of a session's events for those who read rather than decide."""
