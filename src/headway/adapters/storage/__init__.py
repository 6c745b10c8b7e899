"""The ledger's stores: SQLite in a file, PostgreSQL, and memory for tests and throw-away runs.

All SQL is here and nowhere else. The ports' classes (`ledger.py`, `sessions.py`, `keyring.py`,
`sources.py`) are written against `database.py` and know no product; `sqlite.py` and `postgres.py`
meet it.
"""
