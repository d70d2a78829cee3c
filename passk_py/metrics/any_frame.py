"""Frames of other libraries at the door: read as polars, and given back as they came."""

from __future__ import annotations

from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import polars as pl

from passk_py.common.errors import PasskError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def any_frame(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function of polars frames take any frame first, and give its result back in kind.

    A frame of pandas, PyArrow or Modin comes back as such; a lazy one, such as a relation of
    DuckDB, is collected and comes back as polars.
    """
    first = next(iter(signature(function).parameters))

    @wraps(function)
    def at_the_door(*args: P.args, **kwargs: P.kwargs) -> R:
        given: Any = args[0] if args else kwargs.get(first, pl.DataFrame())
        if isinstance(given, pl.DataFrame | pl.LazyFrame):
            return function(*args, **kwargs)
        import narwhals as nw

        try:
            frame = nw.from_native(given)
        except TypeError:
            raise PasskError(
                f"{function.__name__}: {first} must be a frame, not {type(given).__name__}",
                hint="Frames of polars, pandas and PyArrow, and relations of DuckDB are read.",
            ) from None
        is_lazy = isinstance(frame, nw.LazyFrame)
        try:
            read: Any = frame.collect(backend="polars") if is_lazy else frame
            polars = read.to_polars()
            result: Any = (
                function(polars, *args[1:], **kwargs)  # type: ignore[arg-type]
                if args
                else function(**{**kwargs, first: polars})  # type: ignore[call-arg]
            )
            if is_lazy:
                return result  # type: ignore[no-any-return]
            return nw.from_arrow(result, backend=frame.implementation).to_native()  # type: ignore[no-any-return]
        except ImportError as error:
            raise PasskError(
                f"{function.__name__}: a frame of {type(given).__module__.split('.')[0]} needs the "
                f"package {error.name or 'pyarrow'}, which is not installed.",
                hint="pip install pyarrow",
            ) from error

    return at_the_door
