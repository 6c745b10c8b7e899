"""The machine that Headway runs on."""
