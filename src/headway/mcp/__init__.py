"""The MCP surface: strict frames in, seven tools, replies out.

It parses, calls a verb and renders. It knows the application's requests, replies and faults and
nothing below them; the protocol itself is the `mcp` library's, which is imported only when a server
is built.
"""
