"""Fuzzing of the doors: bytes nobody should send, to real servers, for as long as is asked.

Promise: whatever comes in, each answer is one the protocol has, an error carries a code and what to
do, nothing is an internal error, and the server serves on. `python -m fuzz` draws cases from a
seed; what broke the promise is printed with the seed, the number of the case and its bytes.
"""
