"""The boards of dbt charts over the public tables, served from a folder that is made for it."""
