"""Pages for people: the answer, the report, model cards, Superset."""
