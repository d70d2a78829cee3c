"""Graders that err, and the metrics without their errors: from attempts that people labelled."""
