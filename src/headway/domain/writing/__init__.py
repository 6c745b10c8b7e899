"""Writing workflow files: a tree of values as text that people like to read, and skeletons."""
