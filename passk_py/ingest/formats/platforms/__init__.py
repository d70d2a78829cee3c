"""Formats of platforms and libraries that keep experiments: each row is a case of an experiment."""
