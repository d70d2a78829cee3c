"""The errors, each said once: every error that a user can cause is a :class:`PasskError`."""

from __future__ import annotations


class PasskError(Exception):
    """An error that the user can act on.

    Parameters
    ----------
    message
        The mistake and its place, in one sentence.
    hint
        The remedy, in one sentence. The command line prints it on a line of its own.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class InUseError(PasskError):
    """Another process uses the resource; later it may be free."""
