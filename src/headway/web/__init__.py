"""The web surface: one ASGI application, guarded, and the server that serves it.

It knows the application's faults and nothing below them. What speaks another protocol (MCP) is
handed to it as an ASGI application and mounted beside its own routes.
"""
