"""Metrics of frames of attempts: estimates, comparisons, plans, diagnostics and gates in polars."""
