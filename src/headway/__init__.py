"""Headway makes AI agents finish long work properly, and proves it."""

__version__ = "0.1.0.dev0"
