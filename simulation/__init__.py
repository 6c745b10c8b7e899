"""Simulates agents, faults and crashes by chance, and finds what breaks: `make simulate`."""
