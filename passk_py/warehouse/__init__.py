"""The database: building it, reading its tables, exporting and publishing them."""
