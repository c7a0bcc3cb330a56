"""Ratios within one run, never absolute times: see `make bench`."""
