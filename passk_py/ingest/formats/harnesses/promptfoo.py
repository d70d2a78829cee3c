"""promptfoo: what ``promptfoo eval -o`` and ``promptfoo export eval`` write, as JSON or JSON lines.

Each call of a provider with a prompt and a test is a row. Repeats (``--repeat``) are rows that
nothing marks as such, so the log is read twice: first to find out which tests and which columns (a
prompt with a provider) it has.

- Rows of the first versions have ``vars`` and ``latencyMs`` instead of ``namedScores``, and call a
  prompt's label ``display``.
- A failure by an assertion has no reason: what promptfoo gives is a sentence.
- Tests of one description are told apart by their variables, and those of the same variables by a
  digest of their assertions.
- UUIDs and times in the variables and descriptions are ``<uuid>`` and ``<time>`` in the names of
  tasks, because they may be new in each eval; unless nothing else tells two tests apart.
- If there are several columns, the runs are called after the eval, and after the provider and the
  prompt as far as they differ. JSON lines don't name the eval: the file's name does, or that of its
  folder.
- ``testIdx`` does not name a test, because ``promptfoo retry`` counts again from 0.
- ``latencyMs`` 0 of an error was not measured, and numbers of tokens and a cost that the provider
  did not give are null, not 0.
- Answers from the cache, which are duplicates and no tries of their own, have the tag ``cached``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from passk_py.ingest.containers.json_walk import EACH, JsonWalk
from passk_py.ingest.containers.lines import read_lines
from passk_py.ingest.containers.open_bytes import open_log, read_chunk
from passk_py.ingest.containers.shape import ANY, Json, decoded_or_none, loaded_or_none
from passk_py.ingest.formats.digests import digest_of
from passk_py.ingest.formats.harness import Expected, expected_of_each
from passk_py.ingest.formats.harnesses.promptfoo_tests import (
    SURVEYED,
    Plan,
    prompt_of,
    variables_of,
)
from passk_py.ingest.formats.json_harness import JsonHarness
from passk_py.ingest.formats.json_values import at, dict_at, short_line, small_tags, text
from passk_py.ingest.formats.kinds import Refusal
from passk_py.ingest.formats.mappings.mapping import IN_ORDER, map_options
from passk_py.ingest.formats.mappings.mapping_rows import path_of
from passk_py.ingest.formats.run_names import without_endings
from passk_py.ingest.formats.task_names import without_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import IO

    from passk_py.ingest.containers.json_buffer import Element
    from passk_py.ingest.formats.harness import Log, Record
    from passk_py.ingest.formats.kinds import Container
    from passk_py.ingest.formats.sample import Sample

_ERROR: Final = 2
_OLD_ROW: Final = frozenset(("prompt", "vars", "success", "latencyMs"))
# More tests than any eval has with a number of repeats of their own.
_MOST_REPEATED: Final = 100_000
_MOST_REPEATS: Final = 1 << 31
# How ids of providers start that are programs or addresses, not models.
_PROGRAMS: Final = (
    *("file:", "exec:", "python:", "ruby:", "golang:", "package:"),
    *("http:", "https:", "ws:", "wss:", "webhook:", "browser", "mcp", "echo"),
)
_HEADS: Final = (
    ("evalId",),
    ("config", "description"),
    ("config", "evaluateOptions", "repeat"),
    ("runtimeOptions", "repeat"),
)


class Promptfoo(JsonHarness):
    """promptfoo's results as JSON."""

    name = "promptfoo"
    title = "promptfoo's results as JSON"
    reader_version = 4
    container: ClassVar[Container] = "json_object"
    suffixes = (".json",)
    recognised_by = "an object whose results.results have prompt, success, and namedScores or vars"
    fields = (
        ("run_id", "evalId; with several providers or prompts, evalId.provider.prompt"),
        ("suite", "promptfoo, unless --suite is given"),
        ("task_id", "testCase.description, or testCase.vars as JSON, without UUIDs and times"),
        ("attempt", "the place among the rows of the test and column, by testIdx"),
        ("outcome", "success, failureReason, error"),
        ("outcome_reason", "of an error: timeout, or the first line of error"),
        ("score", "score, unless the row is an error"),
        ("agent", "provider.label, or provider.id if it is a program or an address"),
        ("model", "provider.id, unless it is a program or an address"),
        ("duration_s", "latencyMs / 1000"),
        ("cost_usd", "response.cost; cost, unless it is 0"),
        ("input_tokens", "response.tokenUsage.prompt"),
        ("output_tokens", "response.tokenUsage.completion"),
        ("output_hash", "SHA-256 of response.output"),
        ("tags", "prompt, cached, the eval's description; short values of testCase.metadata"),
        ("transcript", "the row: the file, and # with its JSON pointer or line"),
    )
    verdict_rule = "success, where failureReason is not 2"
    attempt_rule = "rows of one test, prompt and provider are counted in the order of testIdx"
    error_rule = (
        "failureReason 2: the first line of error decides, or timeout where promptfoo's own limit "
        "ended the call; promptfoo counts it as an error, which is in its pass rate's denominator"
    )
    documentation = "https://www.promptfoo.dev/docs/configuration/outputs/"
    example = (
        '{"evalId": "eval-abc", "results": {"results": [{"promptIdx": 0, "testIdx": 0, '
        '"testCase": {"description": "addition"}, "prompt": {"label": "plain"}, "provider": '
        '{"id": "openai:gpt-5"}, "success": true, "score": 1, "namedScores": {}, '
        '"failureReason": 0}]}}'
    )
    default_suite = "promptfoo"
    numbers_attempts = True
    labels = {
        "task_id": "testCase.description",
        "attempt": "testIdx + 1",
        "passed": "success",
        "duration_s": "latencyMs / 1000",
        "cost_usd": "response.cost",
        "input_tokens": "response.tokenUsage.prompt",
        "output_tokens": "response.tokenUsage.completion",
    }
    reasons = {
        # The machinery of promptfoo and the way to the provider, whatever else the message says.
        "*worker failed to*": "excluded",
        "*worker not ready*": "excluded",
        "*worker is busy*": "excluded",
        "*worker crashed*": "excluded",
        "*worker shutting down*": "excluded",
        "*worker pool*": "excluded",
        "*worker response file*": "excluded",
        "*request timeout*": "excluded",
        "*response timeout*": "excluded",
        "*headers timeout*": "excluded",
        "*body timeout*": "excluded",
        "*shutdown timeout*": "excluded",
        "*timeout waiting for*": "excluded",
        # The call itself took too long, as with promptfoo's own limit.
        "*python worker timed out*": "failed",
        "*context window*": "failed",
        "*context length*": "failed",
        "*context_length*": "failed",
        "api error*": "excluded",
        "api call error*": "excluded",
    }
    rows_at: ClassVar[tuple[str, ...]] = ("results", "results", EACH)
    shape = {
        **dict.fromkeys(
            (
                *("success", "score", "error", "failureReason", "promptIdx", "promptId"),
                *("provider", "testIdx", "vars", "latencyMs", "cost"),
            ),
            ANY,
        ),
        "gradingResult": {"pass": ANY},
        "prompt": {"label": ANY, "display": ANY},
        "testCase": {
            **dict.fromkeys(("description", "vars", "assert", "metadata"), ANY),
            "options": {"repeat": ANY},
        },
        "response": {"output": ANY, "cost": ANY, "cached": ANY, "tokenUsage": ANY},
    }
    head_shapes = dict.fromkeys(_HEADS, ANY)

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the first row, or from the keys above the rows."""
        if not sample.can_be(self.container):
            return False
        keys = sample.keys_of_first_row(self.rows_at)
        if _is_row(keys) or keys >= _OLD_ROW:
            return True
        # The prompts come before the rows and may be longer than what is looked at.
        above = {"version", "timestamp", "prompts"}
        return "evalId" in sample.fields and above <= sample.keys_of_first_row(("results",))

    def repeated(self, sample: Sample) -> Refusal | None:
        """Say of promptfoo's table that its JSON says more: the evaluation, errors, costs."""
        columns = set(sample.fields)
        if sample.container != "csv" or not (
            columns >= {"Status", "Score", "Named Scores", "Grader Reason"}
            or (b"[PASS]" in sample.start and any(name.startswith("[") for name in columns))
        ):
            return None
        return Refusal(
            "promptfoo's table, which lacks what its JSON says of errors and tests",
            "Export the evaluation as JSON, by `promptfoo export eval ID -o results.json`.",
        )

    def other_tasks(self, sample: Sample) -> str:
        """Write the options that name tests after a variable, as far as the first row tells."""
        row = sample.first_row(self.rows_at)
        row = row if isinstance(row, dict) else {}
        own = dict_at(row, "testCase").get("vars") is not None
        variables = dict_at(variables_of(row))
        lasting = [name for name, value in variables.items() if without_ids(value) == value]
        path = path_of(*(["testCase"] if own else []), "vars", next(iter(lasting), "NAME"))
        lines = {"rows": path_of(*self.rows_at[:-1])} if self.container == "json_object" else {}
        lines |= {"task_id": path, "passed": "$.gradingResult.pass", "outcome_reason": "$.error"}
        return map_options({**lines, "attempt": IN_ORDER})

    def read(self, log: Log) -> Iterator[Record]:
        """Find out the tests and columns, then read the rows."""
        for path in log.files:
            log.heads["plan"] = self._surveyed(path, log)
            with log.opened(path) as file:
                yield from self.read_file(file, log)

    def attempts(self, row: dict[str, Any], element: Element, log: Log) -> Iterable[dict[str, Any]]:
        """Map a row to an attempt."""
        plan: Plan = log.heads["plan"]
        failed_to_run = _is_error(row)
        response = dict_at(row, "response")
        usage, cost = dict_at(response, "tokenUsage"), response.get("cost")
        index, latency = row.get("testIdx"), row.get("latencyMs")
        if type(latency) is int or type(latency) is float:
            latency = None if failed_to_run and not latency else latency / 1000
        run, task = plan.run_of(row), plan.task_of(row)
        own = _count(at(row, "testCase", "options", "repeat"))
        if own and task is not None and len(plan.repeats) < _MOST_REPEATED:
            plan.repeats[task, run] = own
        agent, model = _agent(row.get("provider"))
        attempt = {
            "run_id": run,
            "task_id": task,
            # Old versions don't have it: the order of the rows numbers them.
            "attempt": 1 if index is None else index + 1 if type(index) is int else index,
            "passed": None if failed_to_run else row.get("success"),
            "score": None if failed_to_run else row.get("score"),
            "agent": agent,
            "model": model,
            "duration_s": latency,
            "cost_usd": row.get("cost") or None if cost is None else cost,
            "input_tokens": usage.get("prompt"),
            "output_tokens": usage.get("completion"),
            "output_hash": digest_of(response.get("output")),
            "tags": _tags(row),
            "transcript": self.place_of(element, log),
        }
        if failed_to_run:
            attempt["outcome_reason"] = _reason(row.get("error"))
        yield attempt

    def fills(self, log: Log) -> dict[str, Any]:
        """Take the eval's id, where it has one column, and its description."""
        said = {"tags": {"description": text(log.heads.get("config.description"))}}
        if log.heads["plan"].runs:
            return said
        return {"run_id": text(log.heads.get("evalId")), **said}

    def expected(self, log: Log) -> Iterable[Expected]:
        """Take the number of repeats of the eval, and of the tests that have their own."""
        plan: Plan = log.heads["plan"]
        repeat = log.heads.get("runtimeOptions.repeat")
        if repeat is None:
            repeat = log.heads.get("config.evaluateOptions.repeat")
        if count := _count(repeat):
            yield Expected(count)
            alone: dict[str | None, dict[str, int]] = {}
            for (task, run), own in plan.repeats.items():
                alone.setdefault(run, {})[task] = own
            for run, counts in alone.items():
                yield from expected_of_each(counts, run)

    def _surveyed(self, path: Path, log: Log) -> Plan:
        """Read the log once for its tests and columns."""
        plan = Plan()
        with open_log(path) as file:
            for row in self._rows(file, log):
                try:
                    plan.note(row)
                except RecursionError:
                    # The row is rejected when it is read again.
                    continue
        eval_id = text(log.heads.get("evalId")) or self.default_run_id(log.path)
        plan.name_runs(eval_id or self.name)
        return plan

    def _rows(self, file: IO[bytes], log: Log) -> Iterator[Any]:
        walk = JsonWalk(file, self.rows_at, SURVEYED, frozenset(self.head_shapes))
        for element in walk.rows():
            if element.fault is None:
                yield element.value if element.value is not None else loaded_or_none(element.data)
        for names, data in walk.heads.items():
            log.heads[".".join(names)] = loaded_or_none(data)


class PromptfooLines(Promptfoo):
    """promptfoo's results as lines of JSON."""

    name = "promptfoo-jsonl"
    title = "promptfoo's results as JSON lines"
    container = "json_lines"
    rows_at = ()
    suffixes = (".jsonl",)
    recognised_by = "JSON lines with prompt, namedScores and success"
    fields = (
        (
            "run_id",
            "the name of the file or its folder; of several providers or prompts, these too",
        ),
        *Promptfoo.fields[1:],
    )
    example = (
        '{"promptIdx": 0, "testIdx": 0, "testCase": {"description": "addition"}, "prompt": '
        '{"label": "plain"}, "provider": {"id": "openai:gpt-5"}, "success": true, "score": 1, '
        '"namedScores": {}, "failureReason": 0}'
    )
    head_shapes = {}

    def recognises(self, sample: Sample) -> bool:
        """Tell from the keys of the rows."""
        return sample.container == self.container and _is_row(frozenset(sample.fields))

    def doubled(self, sample: Sample) -> Refusal | None:
        """Look for the rows in the JSON of the same name, which says more of them."""
        name = without_endings(sample.path.name, self.suffixes) or ""
        other = sample.path.with_name(f"{name}.json")
        row = loaded_or_none(sample.start.split(b"\n", 1)[0])
        id_ = text(at(row, "id"))
        if id_ is None or other.is_symlink() or not other.is_file() or not _holds(other, id_):
            return None
        return Refusal(
            f"promptfoo's rows alone, which {other.name} beside it holds too",
            f"Load {other.name}, or name this file itself.",
        )

    def _rows(self, file: IO[bytes], log: Log) -> Iterator[Any]:
        for batch in read_lines(file):
            for line, code in zip(batch.texts, batch.codes, strict=True):
                if code is None:
                    yield decoded_or_none(SURVEYED, line.encode())


def _is_row(keys: frozenset[str]) -> bool:
    # The keys that come early identify a row that the end of the sample cuts off.
    return {"prompt", "namedScores"} <= keys and bool({"success", "latencyMs"} & keys)


def _is_error(row: dict[str, Any]) -> bool:
    """Tell an error from a failure, as promptfoo counts them."""
    if row.get("success") is True:
        return False
    if (said := row.get("failureReason")) is not None:
        return bool(said == _ERROR)
    # Old versions don't have it; an error has no grade there.
    return bool(row.get("error")) and not row.get("gradingResult")


def _count(value: Json) -> int:
    return value if type(value) is int and 1 <= value < _MOST_REPEATS else 0


def _reason(error: Json) -> str:
    said = short_line(text(error))
    if said.startswith("Evaluation timed out"):
        return "timeout"
    return said or "error"


def _agent(provider: Json) -> tuple[str | None, str | None]:
    """Tell the agent and the model of a provider."""
    id_, label = provider, None
    if isinstance(provider, dict):
        id_, label = provider.get("id"), text(provider.get("label"))
    id_ = text(id_)
    if id_ is None:
        return label, None
    is_program = id_.startswith(_PROGRAMS)
    agent = label if label and label != id_ else id_ if is_program else None
    return agent, None if is_program else id_


def _tags(row: dict[str, Any]) -> dict[str, Any]:
    """Take what is short enough to be a slice."""
    prompt = prompt_of(row)
    tags: dict[str, Any] = {} if prompt is None else {"prompt": prompt}
    tags |= small_tags(at(row, "testCase", "metadata"))
    return tags | ({"cached": True} if at(row, "response", "cached") is True else {})


def _holds(path: Path, words: str) -> bool:
    """Look for a text in a file."""
    wanted = words.encode("utf-8", "replace")
    try:
        with open_log(path) as file:
            kept = b""
            while chunk := read_chunk(file, 1 << 20):
                if wanted in kept + chunk:
                    return True
                kept = chunk[-len(wanted) :]
    except (EOFError, OSError, ValueError):
        return False
    return False
