"""Where reliability is lost: whose doing failures were, and the shares of what pass^k lacks."""
