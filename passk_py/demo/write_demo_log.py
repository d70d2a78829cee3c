"""``python -m passk_py.demo.write_demo_log OUTFILE`` writes the demo log."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from passk_py.demo.log_files import write_csv, write_log

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the demo log to the file that the command line names; give the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m passk_py.demo.write_demo_log",
        description="Write the demo log: attempts of solvers on puzzles, the same every time.",
    )
    parser.add_argument("outfile", metavar="OUTFILE", help="the file to write")
    parser.add_argument("--csv", action="store_true", help="as a dbt seed instead of JSON lines")
    parser.add_argument("--seed", type=int, default=2026, help="another log (default: %(default)s)")
    options = parser.parse_args(arguments)
    write = write_csv if options.csv else write_log
    try:
        written = write(options.outfile, seed=options.seed)
    except OSError as error:
        print(f"cannot write {options.outfile}: {error.strerror}", file=sys.stderr)
        return 2
    print(f"{written} attempts in {options.outfile}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
