"""The pytest plugin: repeated tests, their attempts, and pass@k, pass^k and gates at the end."""
