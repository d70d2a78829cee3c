"""What the reports ask of the public tables: every query of theirs, by subject."""
