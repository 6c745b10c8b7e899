"""The history of the tables, one module for each version after Alembic's manner.

A revision is the number of its version. It is never changed once released, and imports nothing of
`tables.py`, which says what the tables are now. Add one beside every change there.
"""
