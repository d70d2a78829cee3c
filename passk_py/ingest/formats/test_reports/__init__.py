"""Formats of test runners: each row is a test, and its retries are attempts."""
