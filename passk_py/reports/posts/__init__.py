"""A report passed on: to the summary of a CI step, a pull request, or a chat."""
