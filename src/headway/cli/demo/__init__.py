"""The demo: a scripted agent, a real repository, a real server that is really killed."""
