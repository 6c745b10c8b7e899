"""Measures what Headway promises, as ratios to floors measured in the same run: `make bench`."""
