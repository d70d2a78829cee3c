"""Formats of harnesses and benchmarks, which run an agent and grade what it did."""
