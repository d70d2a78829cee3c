"""Costs of attempts, and of a success by them: in dollars, seconds or tokens."""
