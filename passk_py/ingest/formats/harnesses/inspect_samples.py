"""One epoch of a sample of Inspect, as an attempt."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

from passk_py.ingest.formats.harness import Unfit
from passk_py.ingest.formats.json_values import (
    at,
    dict_at,
    first_line,
    list_at,
    number,
    seconds_between,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from passk_py.ingest.containers.shape import Json
    from passk_py.ingest.formats.harness import Log

_ERROR: Final = re.compile(r"([A-Za-z_][\w.]*)\(")
_LAST: Final = re.compile(r"([A-Za-z_][\w.]*)(?::|$)")
_DETAILS: Final = re.compile(r" - |[{\[(]")
_CANCELLED: Final = ("CancelledError", "Cancelled")
# Where in a score it may say why it is what it is.
_SAYS: Final = frozenset(("reason", "metadata"))
_NUMBERS: Final = (int, float)
_WORDS: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_LOWER_WORDS: Final = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_READ: Final = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
_WRITTEN: Final = ("output_tokens",)
_PAID: Final = ("total_cost",)
# Tags are for slicing: what is longer than a label is none, and of labels there are a few.
_LONGEST_TAG: Final = 100
_MOST_TAGS: Final = 20


def attempt_of(
    row: dict[str, Any], chosen: tuple[str | None, ...], guessed: dict[str, tuple[str, ...]]
) -> dict[str, Any]:
    """Give the fields of an attempt; the chosen score and the threshold decide what passed.

    Note in ``guessed`` which value of a score decided by its place alone, and its other values.
    """
    scores = row.get("scores")
    if scores is None and row.get("score") is not None:
        # So the first logs had it, before there could be several scorers.
        scores = {"score": row["score"]}
    score, value, name = _verdict_of(scores if isinstance(scores, dict) else {}, chosen, guessed)
    value = _as_number(value)
    started = row.get("started_at")
    duration = row.get("total_time")
    if duration is None:
        duration = seconds_between(started, row.get("completed_at"))
    attempt = {
        "task_id": row.get("id"),
        "attempt": row.get("epoch"),
        "outcome_reason": _reason(row, score, graded=value is not None),
        "score": value,
        "started_at": started,
        "duration_s": duration,
        "tags": _tags_of(row, scores, name),
    }
    if usage := dict_at(row, "model_usage"):
        models = [one for one in usage.values() if isinstance(one, dict)]
        attempt["input_tokens"] = _sum(models, _READ)
        attempt["output_tokens"] = _sum(models, _WRITTEN)
        attempt["cost_usd"] = _sum(models, _PAID)
    return attempt


def chosen_score(log: Log) -> tuple[str | None, ...]:
    """Say which scorer the verdict is from, and which of its values if it has several."""
    results = log.heads.get("results")
    headline = at(results, "headline")
    scorer, name = text(at(headline, "scorer")), text(at(headline, "score"))
    if scorer is None:
        # Logs of which no result says it: what the task declares, as far as there is such a score.
        declared = at(log.heads.get("eval"), "headline_metric")
        scorer, name, metric = (text(at(declared, key)) for key in ("scorer", "score", "metric"))
        if scores := list_at(results, "scores"):
            first = next((one for one in scores if _fits(one, scorer, name, metric)), scores[0])
            scorer, name = text(at(first, "scorer")), text(at(first, "name"))
    return scorer, name


def _fits(score: Json, scorer: str | None, name: str | None, metric: str | None) -> bool:
    return (
        scorer in (None, at(score, "scorer"))
        and name in (None, at(score, "name"))
        and (metric is None or metric in dict_at(score, "metrics"))
    )


def _verdict_of(
    scores: dict[str, Any], chosen: tuple[str | None, ...], guessed: dict[str, tuple[str, ...]]
) -> tuple[Any, Any, tuple[str, str | None]]:
    """Take the score that is the verdict, its value, and where it stands."""
    scorer, name = chosen
    if scorer is None:
        scorer = next(iter(scores), None)
    # If two scorers have one name, the second has a number in the scores and in `name` only.
    found = name if scorer not in scores and name in scores else scorer
    score = scores.get(found) if found is not None else None
    value = score.get("value") if isinstance(score, dict) else None
    if isinstance(value, list):
        raise Unfit(
            "several_values",
            f"scores.{found}.value is a list of {len(value)} values, and none of them is the "
            "verdict.",
        )
    inner = None
    if isinstance(value, dict):
        inner = name if name in value else next(iter(value), None)
        if inner != name and len(value) > 1 and value[inner] is not None:
            guessed[f"{found}.{inner}"] = tuple(one for one in value if one != inner)
        value = value.get(inner)
    return score, value, (str(found), inner)


def _as_number(value: Json) -> float | None:
    """Make a number of a value as Inspect's ``value_to_float`` does; None where it is no score."""
    if isinstance(value, str):
        known = _WORDS.get(value)
        if known is None:
            known = _LOWER_WORDS.get(value.lower(), number(value))
        return known if known is not None and math.isfinite(known) else 0.0
    if isinstance(value, bool):
        return float(value)
    made = number(value)
    return None if made is None or math.isnan(made) else made


def _reason(row: dict[str, Any], score: Json, *, graded: bool) -> str | None:
    """Say what befell the attempt, in Inspect's words."""
    error, limit = row.get("error"), row.get("limit")
    if error is None and limit is None and graded and not _SAYS.intersection(score or ()):
        return None
    if error is not None:
        # A text in summaries, an object in samples.
        message = error if isinstance(error, str) else at(error, "message")
        found = _ERROR.match(message) if isinstance(message, str) else None
        if found and found[1] in _CANCELLED:
            return "cancelled"
        said = found[1] if found else _class_of(at(error, "traceback")) or _start_of(message)
        return f"error: {said}" if said else "error"
    kind = text(at(limit, "type")) if isinstance(limit, dict) else text(limit)
    said = text(at(score, "reason")) or text(at(score, "metadata", "unscored_reason"))
    if graded:
        return f"{kind}_limit" if kind else said
    if isinstance(score, dict):
        return f"unscored: {said}" if said else "unscored"
    if kind:
        return f"{kind}_limit"
    return "incomplete" if row.get("completed") is False else "unscored"


def _class_of(traceback: Json) -> str | None:
    """Take the class of an error from the end of its traceback."""
    lines = traceback.rstrip().splitlines() if isinstance(traceback, str) else []
    found = _LAST.match(lines[-1]) if lines else None
    return found[1].rpartition(".")[2] if found else None


def _start_of(message: Json) -> str | None:
    """Take the start of a message, without what differs from one error to the next."""
    start = _DETAILS.split(first_line(message), maxsplit=1)[0][:_LONGEST_TAG].strip()
    return start if start.isprintable() and start else None


def _sum(models: list[dict[str, Any]], keys: tuple[str, ...]) -> Json:
    """Add numbers; None if there are none, and the first that is no number in place of a sum."""
    if len(models) == 1 and len(keys) == 1:
        return models[0].get(keys[0])
    total: float | None = None
    for one in models:
        for key in keys:
            value = one.get(key)
            if value is None:
                continue
            if type(value) not in _NUMBERS:
                return value
            try:
                total = value if total is None else total + value
            except OverflowError:
                return value
    return total


def count_of(value: Json) -> int:
    """Give a whole number, or 0 where there is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _tags_of(
    row: dict[str, Any], scores: Json, verdict: tuple[str, str | None]
) -> dict[str, Any] | None:
    """Make tags of the metadata and of the values that are not the verdict."""
    tags = short_values(dict_at(row, "metadata"))
    if isinstance(scores, dict) and (len(scores) > 1 or verdict[1] is not None):
        tags |= short_values(dict(_other_scores(scores, verdict)))
    retries = row.get("retries")
    again = row.get("error_retries")
    if retries or again:
        tags["retries"] = len(again) if isinstance(again, list) else count_of(retries)
    return tags or None


def _other_scores(
    scores: dict[str, Any], verdict: tuple[str, str | None]
) -> Iterator[tuple[str, Any]]:
    for name, score in scores.items():
        value = at(score, "value")
        if isinstance(value, dict):
            for inner, one in value.items():
                if (name, inner) != verdict:
                    yield f"score.{name}.{inner}", one
        elif name != verdict[0]:
            yield f"score.{name}", value


def short_values(values: dict[str, Any]) -> dict[str, Any]:
    """Give the values that can be labels, not all of them if there are many."""
    found = {}
    for name, value in values.items():
        if isinstance(value, str):
            good = 0 < len(value) <= _LONGEST_TAG and value.isprintable()
        elif isinstance(value, float):
            good = math.isfinite(value)
        else:
            good = isinstance(value, int) and abs(value) < 1 << 63
        if good and len(name) <= _LONGEST_TAG and name.isprintable():
            found[name] = value
            if len(found) == _MOST_TAGS:
                break
    return found
