"""The tools a model works with: each in its file, put together in `toolset.py`.

File tools never leave the worktree, by resolved path. The shell is not confined here: what confines
it is put before its command (see `Shell`).
"""
