"""pass^k over the length of tasks: bins, a fitted curve, and the length at which it is one half."""
