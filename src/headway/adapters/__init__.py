"""The world: one family of adapters for each thing outside, none of which knows another."""
