"""The algorithms that the demo's agents are made of, one a module."""
