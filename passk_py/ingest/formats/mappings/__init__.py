"""Files that no format knows: the mapping that a user gives, and the one that passk proposes."""
