"""The tables, computed again in polars."""
