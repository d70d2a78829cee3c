"""Every query of the public tables by the reports, one subject per file."""
