"""The puzzles of the demo: what one is, and how one with a known solution is drawn."""
