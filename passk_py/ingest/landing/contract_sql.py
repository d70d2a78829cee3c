"""The contract as SQL: raw values in, typed attempts and the reason of each rejection out.

One piece of SQL for every format and both ways of reading, so that they can't disagree on what a
value means.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from passk_py.common.contract import (
    CONTRACT_COLUMNS,
    EXPECTED_ATTEMPTS,
    MOST_EXPECTED,
    OUTCOMES,
    TRANSCRIPT,
    score_limit,
)
from passk_py.common.sql_text import quote
from passk_py.ingest.formats.canonical import CANONICAL_FIELDS
from passk_py.ingest.formats.policy import rules_for
from passk_py.ingest.landing.options import can_be_stored
from passk_py.ingest.landing.values import TYPERS, Rule, Typed, as_flag, as_place, case_of, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from passk_py.ingest.formats import Field, Kind
    from passk_py.ingest.landing.source import Source

_MAX_RAW: Final = 10_000

_TOLD: Final = (*CONTRACT_COLUMNS, EXPECTED_ATTEMPTS)
_NOT_NEGATIVE: Final = ("duration_s", "cost_usd", "input_tokens", "output_tokens")


def fields_of(source: Source, *, fast: bool) -> dict[str, Field]:
    """Tell where each column of the contract comes from in the raw rows, read in either way."""
    return source.format.contract(_columns_of(source, fast=fast))


def _columns_of(source: Source, *, fast: bool) -> dict[str, Kind]:
    """Name the columns of the raw rows, and how each is handed over."""
    sample, format_ = source.sample, source.format
    if source.harness:
        return dict.fromkeys(CANONICAL_FIELDS, "text")
    if format_.container == "parquet":
        return {name: kind for name, kind in sample.kinds.items() if name in format_.columns}
    if format_.container == "csv":
        return dict.fromkeys((name for name in sample.fields if name in format_.columns), "text")
    kinds: dict[str, Kind] = {key.column: "text" for key in format_.keys}
    if fast:
        kinds |= {key.column: "map" for key in format_.keys if key.table}
        kinds |= {key.column: "float" for key in format_.keys if key.measure}
    return kinds


class ContractSql:
    """Turns the raw rows of a log into typed attempts.

    Their relation has the columns that the format speaks of, or only those of ``kinds``, and
    ``source_line``, ``raw`` (the text of the row), ``read_code`` and ``read_reason`` (why the row
    could not even be read, else null). Reasons decide nothing where rows are ``all_judged``.
    Columns that the options name hold what the log says of them, without a stand-in, until
    :func:`~passk_py.ingest.landing.given.as_given` puts the options in.
    """

    def __init__(
        self,
        source: Source,
        *,
        fast: bool,
        kinds: Mapping[str, Kind] | None = None,
        all_judged: bool = False,
    ) -> None:
        options = source.options
        self._fields = fields_of(source, fast=fast)
        if kinds is not None:
            # DuckDB takes longer to plan a query of columns without a value than to run it.
            self._fields = {
                name: replace(field, kind=kinds[name])
                for name, field in self._fields.items()
                if name in kinds
            }
        self._path = source.sample.path
        self._uses_threshold = source.format.uses_threshold
        # If an attempt has no verdict, the first pattern that fits its reason decides.
        self._policy = () if all_judged else rules_for(source.format, options.policy.items())
        # A harness may say what fills a null after its last row only; that is left to filled().
        self._heads_follow = source.harness is not None
        self._given = options.given
        fills = {"run_id": _default_run_id(source), "suite": source.format.default_suite}
        self._fills = {
            name: quote(text)
            for name, text in fills.items()
            if text is not None and name not in self._given
        }
        self._tags = options.tags
        self._limit = f"{score_limit(options.score_threshold)!r}::double"
        self._values, self._rules = self._build()

    def filled(
        self, heads: Mapping[str, str | None], tags: Mapping[str, str] | None
    ) -> dict[str, str]:
        """Write SQL for the columns that get what the log says of all its attempts afterwards."""
        # tags are None where the rows have theirs already, and the options'.
        typers = {column.name: column.duckdb_type for column in CONTRACT_COLUMNS}
        said = {
            name: f"try_cast({quote(value)} as {typers[name]})"
            for name, value in heads.items()
            if value is not None
        }
        sql = {
            name: f"coalesce({', '.join([name, *fills])})"
            for name in dict.fromkeys([*said, *self._fills])
            if (fills := [part[name] for part in (said, self._fills) if name in part])
        }
        if tags is not None and (tags or self._tags):
            sql["tags"] = _tags_in_order("tags", tags, self._tags)
        return sql

    def typed(self, relation: str) -> str:
        """Write SQL for the contract's columns, ``source_line``, and whether a row is ``odd``."""
        return (
            f"select {self._columns()}, source_line, {self._odd()} as odd "
            f"from {self._valued(relation)}"
        )

    def all_good(self, relation: str) -> str:
        """Write SQL for the same columns but ``odd``, with an InvalidInputException at one."""
        # A filter, and a look at what it left out, would make DuckDB copy every column of every
        # row.
        task = "case when odd then error('a row breaks a rule') else task_id end as task_id"
        return f"select * exclude (odd) replace ({task}) from ({self.typed(relation)})"

    def explained(self, relation: str) -> str:
        """Write SQL for the same columns but ``odd``, and for what is wrong with the row."""
        # The reject columns and raw_text are null for rows without fault; reject_field is null too
        # where it is the whole row that can't be read.
        whens = [
            ("read_code is not null", "0"),
            *((rule.when, str(place)) for place, rule in enumerate(self._rules, 1)),
        ]
        by_fault = [(f"fault = {place}", rule) for place, rule in enumerate(self._rules, 1)]
        field = case_of([(when, quote(rule.field)) for when, rule in by_fault])
        code = case_of([("fault = 0", "read_code"), *((w, r.code) for w, r in by_fault)])
        reason = case_of([("fault = 0", "read_reason"), *((w, r.reason) for w, r in by_fault)])
        cut = (
            f"case when length(raw) > {_MAX_RAW} then left(raw, {_MAX_RAW}) || "
            "' [cut: ' || length(raw) || ' characters in all]' else raw end"
        )
        return (
            f"select {self._columns()}, source_line, "
            f"case when fault is not null then {field} end as reject_field, "
            f"case when fault is not null then {code} end as reject_code, "
            f"case when fault is not null then {reason} end as reject_reason, "
            f"case when fault is not null then {cut} end as raw_text "
            # The broken rule is looked up for the odd rows only.
            f"from (select *, case when odd then {case_of(whens)} end as fault "
            f"from (select *, {self._odd()} as odd from {self._valued(relation)}))"
        )

    def _odd(self) -> str:
        whens = ["read_code is not null", *(rule.when for rule in self._rules)]
        return "coalesce(" + " or ".join(f"({when})" for when in whens) + ", false)"

    def _columns(self) -> str:
        # The fills come last: a value of the wrong type is rejected, not filled over.
        sql = {column.name: f"v_{column.name}" for column in _TOLD}
        sql |= {"outcome_reason": "v_verdict_reason"}
        if not self._heads_follow:
            sql |= {name: f"coalesce(v_{name}, {fill})" for name, fill in self._fills.items()}
            tags = self._fields.get("tags")
            if self._tags or (tags and not tags.in_order):
                sql["tags"] = _tags_in_order("v_tags", {}, self._tags)
        return ", ".join(f"{value} as {name}" for name, value in sql.items())

    def _valued(self, relation: str) -> str:
        raw = ", ".join(f"{field.sql} as f_{name}" for name, field in self._fields.items())
        typed = ", ".join(f"{value.sql} as v_{name}" for name, value in self._values.items())
        return (
            f"(select *, {self._verdict()} from (select *, {typed} from "
            f"(select {raw}, source_line, raw, read_code, read_reason from ({relation}))))"
        )

    def _build(self) -> tuple[dict[str, Typed], list[Rule]]:
        values: dict[str, Typed] = {}
        for column in _TOLD:
            field = self._fields.get(column.name)
            if column.name == "outcome":
                continue
            if field is None:
                values[column.name] = Typed(f"null::{column.duckdb_type}")
            elif column is TRANSCRIPT:
                values[column.name] = as_place(column.name, field.kind, self._path)
            else:
                typer = TYPERS[column.duckdb_type]
                values[column.name] = typer(column.name, field.label, field.kind)
        values["passed"] = Typed("null::boolean")
        if passed := self._fields.get("passed"):
            values["passed"] = as_flag("passed", passed.label, passed.kind)
        of_types = [rule for value in values.values() for rule in value.rules]
        return values, [*self._missing(), *of_types, *self._outcome_rules(), *self._ranges()]

    def _missing(self) -> list[Rule]:
        hints = {
            "attempt": "attempt is missing; it numbers the tries of a task, from 1.",
            "task_id": "task_id is missing.",
            "run_id": "run_id is missing; give one for the whole file with --run-id.",
        }
        rules = []
        for name, hint in hints.items():
            field = self._fields.get(name)
            if name in self._fills or name in self._given:
                continue
            if field is None:
                when = "true"
            elif field.kind == "text":
                when = f"coalesce(f_{name}, '') = ''"
            else:
                when = f"f_{name} is null"
            rules.append(Rule(when, name, "'missing_field'", quote(hint)))
        return rules

    def _word(self) -> str:
        return "nullif(cast(f_outcome as varchar), '')" if "outcome" in self._fields else "null"

    def _verdict(self) -> str:
        word = self._word()
        known = ", ".join(quote(outcome) for outcome in OUTCOMES)
        by_score = [(f"v_score >= {self._limit}", "'passed'"), ("v_score is not null", "'failed'")]
        # A verdict stays: a reason decides only where there is none.
        by_reason = [
            (f"lower(v_outcome_reason) like {_like(pattern)} escape '^'", quote(counts_as))
            for pattern, counts_as in self._policy
            if "outcome_reason" in self._fields
        ]
        outcome = case_of(
            [
                (f"{word} in ({known})", word),
                (f"{word} is not null", "null"),
                ("v_passed", "'passed'"),
                ("not v_passed", "'failed'"),
                *(by_score if self._uses_threshold else []),
                *by_reason,
            ],
            otherwise="'excluded'",
        )
        silent = f"{word} is null and v_passed is null"
        if self._uses_threshold:
            silent += " and v_score is null"
        reason = f"coalesce(v_outcome_reason, case when {silent} then 'no_verdict' end)"
        return f"({outcome})::varchar as v_outcome, ({reason})::varchar as v_verdict_reason"

    def _outcome_rules(self) -> list[Rule]:
        if "outcome" not in self._fields:
            return []
        word, label = self._word(), quote(self._fields["outcome"].label + " is ")
        known = ", ".join(OUTCOMES)
        rules = [
            Rule(
                f"{word} is not null and v_outcome is null",
                "outcome",
                "'unknown_outcome'",
                f"{label} || {shown('f_outcome')} || {quote(f', which is not one of {known}.')}",
            )
        ]
        if "passed" in self._fields:
            # passed = false beside excluded is what many harnesses write for an attempt that
            # died, so it is no contradiction; nor is a pass that someone took out afterwards.
            rules.append(
                Rule(
                    "(v_outcome = 'failed' and v_passed) "
                    "or (v_outcome = 'passed' and not v_passed)",
                    "outcome",
                    "'contradictory_verdict'",
                    f"{label} || {shown('f_outcome')} || ' but passed is ' || "
                    f"{shown('f_passed')} || '; they must agree.'",
                )
            )
        return rules

    def _ranges(self) -> list[Rule]:
        rules = []
        if attempt := self._fields.get("attempt"):
            reason = "', but attempts are numbered from 1.'"
            rules.append(_below("attempt", attempt.label, "1", reason))
        if expected := self._fields.get(EXPECTED_ATTEMPTS.name):
            name = EXPECTED_ATTEMPTS.name
            reason = f"', but must be a number from 1 to {MOST_EXPECTED:,}.'"
            below = _below(name, expected.label, "1", reason)
            rules.append(replace(below, when=f"not v_{name} between 1 and {MOST_EXPECTED}"))
        negative = "', but it can not be negative.'"
        given = {name: self._fields.get(name) for name in _NOT_NEGATIVE}
        return rules + [
            _below(name, field.label, "0", negative) for name, field in given.items() if field
        ]


def _default_run_id(source: Source) -> str | None:
    path = source.sample.path
    run_id = source.format.default_run_id(path)
    # The log's name of its run need not be text that can be stored; its own name is.
    return path.name if run_id is not None and not can_be_stored(run_id) else run_id


def _like(pattern: str) -> str:
    """Write a pattern in which only * has a meaning."""
    plain = "".join(f"^{letter}" if letter in "^%_" else letter for letter in pattern.lower())
    return quote(plain.replace("*", "%"))


def _tags_in_order(tags: str, said: Mapping[str, str], given: Mapping[str, str]) -> str:
    """Write SQL for a row's tags: they override ``said``, and ``given`` overrides them."""
    if said:
        tags = f"map_concat({_map_of(said)}, {tags})"
    if given:
        tags = f"map_concat({tags}, {_map_of(given)})"
    # Sorted by name, because maps are equal only in the same order and the order of the keys of a
    # JSON object means nothing.
    in_order = f"map_from_entries(list_sort(map_entries({tags})))"
    return f"case when {tags} is not null then {in_order} end"


def _map_of(tags: Mapping[str, str]) -> str:
    pairs = ", ".join(f"{quote(k)}: {quote(v)}" for k, v in sorted(tags.items()))
    return f"map {{{pairs}}}"


def _below(name: str, label: str, least: str, reason: str) -> Rule:
    # tau-bench's trial -1 is attempt 0: the value that was judged is shown.
    said = f"{quote(label + ' is ')} || v_{name} || {reason}"
    return Rule(f"v_{name} < {least}", name, "'out_of_range'", said)
