"""The relay: what `headway mcp` is while a server serves this home.

Lines on stdin go to the server's `/mcp` as they are, its answers come back as lines. It starts at
once, so it is written in the standard library alone and imports little of that; what it needs
seldom (the strict reading of frames, child processes) is imported when needed.

Its law: every request read is answered, whatever becomes of the server. A request whose answer was
lost is asked again, which is safe: an advance and a checkpoint are known by their token, a start by
the call key that the relay puts into it, and the rest changes nothing that a second time would
double. Nothing durable is held here, so it may end at any moment.
"""
