"""``passk validate``: the tables of SQL against what polars makes of the attempts."""
