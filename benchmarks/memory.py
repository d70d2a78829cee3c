"""The memory that a process has had, for the benchmarks that print it."""

from __future__ import annotations

from pathlib import Path


def peak_mib(process: int | str = "self") -> float | None:
    """Give the most that a process has had so far; None where the system does not tell, or the process has ended.

    Not ``ru_maxrss``: of a child that begins with what its parent had.
    """
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return None
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) / 1024 if lines else None
