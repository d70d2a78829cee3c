"""Pages for people, and files for other tools: the answer, the report, model cards, Superset."""
