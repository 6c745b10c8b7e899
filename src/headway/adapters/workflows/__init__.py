"""Workflow files in folders: finding, reading, compiling, and saying what is wrong with them."""
