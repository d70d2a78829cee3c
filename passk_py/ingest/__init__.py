"""From files of harnesses to landing.attempts."""
