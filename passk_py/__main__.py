"""``python -m passk_py`` is ``passk``."""

from __future__ import annotations

from passk_py.cli import main

if __name__ == "__main__":
    main()
