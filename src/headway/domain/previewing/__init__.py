"""Showing an author what an agent will read at each step, and where each part of it comes from."""
