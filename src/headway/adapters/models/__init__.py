"""Models: what answers a conversation. The only room that knows a provider."""
