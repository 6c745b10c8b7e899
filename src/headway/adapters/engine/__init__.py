"""Engines elsewhere: sessions driven through the MCP tools of another server."""
