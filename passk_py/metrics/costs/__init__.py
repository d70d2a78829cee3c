"""What attempts cost, and what a success costs by it: in dollars, seconds or tokens."""
