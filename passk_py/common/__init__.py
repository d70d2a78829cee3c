"""Shared by every room: errors, files, the contract, names and words."""
