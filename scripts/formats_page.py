"""Writes ``docs/formats.md`` from what the formats say; ``--check`` fails where it is old."""

from __future__ import annotations

import sys
from pathlib import Path

from passk_py.ingest.formats import FORMATS, Format
from passk_py.ingest.formats.policy import general_policy

PAGE = Path(__file__).resolve().parent.parent / "docs" / "formats.md"

HEAD = """\
# Log formats

`passk load PATH...` takes files, globs and folders, and recognises the format of a file by its content. The first
format of this table that recognises a file reads it, unless you name one by `--format` or map columns by `--map` or `--mapping`. Files that
form one log, such as the trials of a job, are read together. `passk formats NAME` prints the same description.

If no harness wrote the log, write a row for each attempt: the *canonical* formats, the last four of the table, have the columns of
[the attempt contract](architecture.md#the-attempt-contract) under their own names.

Written by `scripts/formats_page.py` from `passk_py/ingest/formats/`.

{table}

## Options that describe a log

`--run-id`, `--suite`, `--agent`, `--model` and `--tag` apply to all attempts that a call loads, even if the log has other values.

- If an option replaces a name in the log, `passk load` says so.
- If a log has several runs, suites, agents or models, and an option would merge them into one, the log is rejected. A tag replaces the tag
  of the same name in each attempt.
- Logs given together under one `--run-id` form one run. Three logs of Inspect with one epoch each become attempts 1 to 3:

  ```shell
  passk load logs/2026-11-2*.eval --run-id nightly
  ```

  The attempt numbers of a task continue from log to log, in the order of the arguments. Logs of a folder or a glob are sorted by name,
  `run-2` before `run-10`. Name all logs of a run in one call: if you load them one after the other, the numbers of each start at 1, and
  `passk load` says how to load them together. To add a log later, name it together with the others.
- Logs in which attempts have numbers keep them: `jsonl`, `json`, `csv`, `parquet` and mappings other than `attempt: in_order`. If two of
  them have different verdicts for the same attempt number of a task, `passk load` says so, and neither counts.

## Duplicate files and separate logs

Two files with the same bytes, such as a run that was copied to a subfolder, count once. `passk load` skips the one in the deeper folder,
and names it. Two runs may also write the same bytes, if the format has no times (reports without times, HumanEval's and lm-eval's samples).
Then a file with another name counts, and is named too.

`passk load` also warns if it read files as one run that could be several, or as several that could be one: files of two agents in one
folder of JUnit XML, evaluation runs of SWE-bench and Terminal-Bench whose names do not look like repeats, or tests with the same name. Load
the files of one run with a `--run-id`, and files of different runs in separate calls.

## Errors

A graded attempt keeps its verdict, even if something else went wrong: a timeout that passed is a pass, and its reason is kept. If an
attempt has no verdict, its reason decides: it is `failed` if the agent caused the error, and `excluded` if the error says nothing about the
agent. The first rule that applies decides:

1. your own rules: `passk load --policy timeout=excluded`, or a YAML file of lines `reason: outcome`;
2. the format's own words, in its section below;
3. the general table below, in which the first matching pattern decides (`*` matches anything, case does not matter);
4. if nothing matches, the attempt is excluded.

| reason | counts as |
|---|---|
{policy}

The dbt var `passk_outcome_policy` can still change the outcome of landed attempts when the tables are built.

## Retries

If a runner repeats a failed test and stops at the first pass, every estimate is too good, because the result decides when the tries stop.
If the report mentions the tries, attempts of such a test have the tag `reruns`, `passk load` says so, and the diagnostic
[`retry_until_pass`](diagnostics.md#the-questions) warns. Switch retries off, and repeat each test a fixed number of times instead:

| runner | to switch retries off | to repeat a fixed number of times |
|---|---|---|
| pytest | without `--reruns`; `-p no:rerunfailures` where tests are marked `flaky` | [`--passk-repeat 8`](pytest.md), or `--count 8` with pytest-repeat |
| Playwright | `--retries=0`, or `retries: 0` in its config | `--repeat-each=8` |
| jest | without `jest.retryTimes`, or `jest.retryTimes(0)` | a loop around the run: `run-1.xml`, `run-2.xml`, ... |
| vitest | `--retry=0`, or `retry: 0` in its config | the option `repeats: 7` of a test, or a loop around the run |
| Surefire | `-Dsurefire.rerunFailingTestsCount=0` | JUnit's `@RepeatedTest(8)`, or a loop around the run |
| Bazel | `--flaky_test_attempts=1` | `--runs_per_test=8` |

jest-junit does not report retries: a test that passed at the third try looks like one that passed at the first.

## Attempts that are missing

If the number of expected attempts is known, `passk_missing_attempts` lists those that the log lacks, and `passk_runs` counts them. They are
not failures, and are in no metric. The first of these sources that exists counts:

1. a field or column `expected_attempts` of the rows, the same in each row of a task (`--map expected_attempts=$.planned` names another); if
   the rows of a task differ, `passk load` warns, and the largest number counts;
2. the number that the harness gives in its log;
3. `passk load --expected-attempts 4`, for the tasks that are in the log.

## Transcripts

The column `transcript` says where the transcript of an attempt lies, for a link to it; no transcript is stored. Most formats of harnesses
fill it in. In canonical files, it is a URL or a path, relative to the folder of the log, with the place in a file after `#`. A mapping
names another field: `--map transcript=$.trace_url`.

## Names of runs

If the rows do not name their run, it gets the name of the file without its endings. If every run has a file of that name, such as
`samples_eval_results.json`, `results.json` or `output.jsonl`, the run gets the name of the folder, or of the folder above if that is called
`results` or similar. So `gpt-5/samples_eval_results.json` and `o3/samples_eval_results.json` are the runs `gpt-5` and `o3`. A name with a
digit, such as `samples_2`, is kept. `--run-id` overrides the name. Canonical logs must name their run.

## Scores and their threshold

`--score-threshold 0.5` sets the lowest score that passes; the default is 1. It applies to canonical rows that have neither `outcome` nor
`passed`, to mappings with `score`, to Inspect and to Harbor. Other formats have their own verdicts, and `passk load` says that the
threshold has no effect. If all verdicts are from scores and none reaches the threshold, `passk load` gives the highest score.

## Files left out of a folder

In a folder, `passk load` reads the files whose names end like those of a log. It counts and names other files that contain JSON or a log of
a known format, such as `a.out` or `b.log`; to read them, name them as arguments. It skips hidden files and links.

## Any other file

For any other JSON, CSV or Parquet, a mapping names the place of each column of the attempt contract:

```shell
passk load results.json --map 'rows=$.results' --map 'task_id=$.case.id' --map 'attempt=$.trial + 1' \\
  --map 'passed=$.score >= 0.8' --save-mapping ours
passk load next.json --mapping ours
```

The second command reads `passk_mappings/ours.yml`, which the first one wrote:

```yaml
rows: $.results
task_id: $.case.id
attempt: $.trial + 1
passed: $.score >= 0.8
```

| expression | meaning |
|---|---|
| `$.case.id`, `$["a b"]`, `$.scores[0]` | the value at that place in a row; `$.name` is a column of a table, in which `$.name.key` leads into JSON |
| `$.stats[name == "f1"].mean` | the same in the first element of a list whose field equals a value |
| `$` | the row itself, such as `true` or `0.5` |
| `^.title`, `^^.title` | a value in the object one or two levels above the row |
| `$key`, `^key` | the name of the row, or of the object above it, or its place in a list, from 0 |
| `$.score >= 0.8`, `$.status == 'ok'`, `$.kind in ('a', 'b')`, `$.kind not in ('a', 'b')` | true, false, or null if there is no value |
| `$.error == null`, `$.error != null` | true or false; an empty text is null |
| `$.trial + 1` | a number that does not start at 1 in the file |
| `nightly` | this text, for every row |
| `attempt: in_order` | the tries of a task, numbered by `started_at` or, without it, in the order of the rows |
| `rows: $.results`, `rows: $.eval[*][*]` | the place of the rows in a document, or in each line or element of a file with several |
| `rows: $.run_*`, `rows: $.passed\\|failed[*]` | the members, or the columns, whose names match |
| `no_verdict: $.error != null` | if true, the attempt has no verdict, so that its [reason](#errors) decides how it counts |
| `tags: {{domain: $.meta.domain}}`, `--map tags.domain=$.meta.domain` | tags |

Each star of `rows` is a level: in `$.tasks[*].samples[*]`, `^` is the task and `^^` the document. The last star may be left out. With
several `--map rows=...` (a list in a file), rows are read from each of these places, and a path that leads nowhere in one of them is null
there. If a path leads nowhere in all rows, `passk load` says so and lists the names that there are.

`passk formats --propose FILE` prints a `passk load` line that may read a file, and the first rows as they would land. Nothing lands until
you run the line:

```shell
passk formats --propose samples.json
```

It proposes only verdicts that a name tells; otherwise the line has `$.VERDICT`, for you to replace. A status that is no verdict, such as
`skipped`, becomes a reason, and models, or other names, under which the same tasks stand again become runs. It says what to look at
before the line is run: numbers that two attempts have, words that leave attempts out, and scores above 1.

Tasks with samples in them, `samples.json`:

```json
{{"model": "gpt-9", "tasks": [{{"id": "add", "samples": [{{"ok": true}}, {{"ok": false}}]}}, {{"id": "sub", "samples": [{{"ok": true}}]}}]}}
```

```shell
passk load samples.json --map 'rows=$.tasks[*].samples' --map 'task_id=^.id' --map 'attempt=$key + 1' --map passed=$.ok \\
  --map 'model=^^.model'
```

Plain values under the names of the tasks, `flags.json`:

```json
{{"t1": [true, false], "t2": [true, null]}}
```

```shell
passk load flags.json --map 'rows=$[*][*]' --map 'task_id=^key' --map 'attempt=$key + 1' --map 'passed=$'
```

Two lists of names, `summary.json`:

```json
{{"total": 3, "passed": ["x-1", "x-3"], "failed": ["x-2"]}}
```

```shell
passk load summary.json --map 'rows=$.passed|failed[*]' --map 'task_id=$' --map "passed=^key == 'passed'" --map attempt=in_order
```

Results and failures in two lists, `report.json`:

```json
{{"cases": [{{"name": "a", "score": 1}}, {{"name": "b", "score": 0.5}}], "failures": [{{"name": "b", "error": "rate_limit"}}]}}
```

```shell
passk load report.json --map 'rows=$.cases' --map 'rows=$.failures' --map 'task_id=$.name' --map 'score=$.score' \\
  --map 'outcome_reason=$.error' --map 'no_verdict=$.error != null' --map attempt=in_order
```

A table with a column for each attempt, `wide.csv`. An empty cell is an attempt without a verdict:

```text
task;run 1;run 2
a;pass;fail
b;pass;
```

```shell
passk load wide.csv --map 'rows=$["run *"]' --map 'task_id=^.task' --map "passed=$ == 'pass'" --map attempt=in_order
```

A metric by its name in a list, `metrics.jsonl`:

```json
{{"doc": "d1", "metrics": [{{"name": "f1", "mean": 0.2}}, {{"name": "exact_match", "mean": 1}}]}}
```

```shell
passk load metrics.jsonl --map 'task_id=$.doc' --map 'passed=$.metrics[name == "exact_match"].mean >= 0.5' --map attempt=in_order
```

"""


def section(one: Format) -> str:
    """Write what a format says of itself."""
    lines = [
        f"## {one.name}",
        "",
        f"{capital(one.title)}.",
        "",
        "| | |",
        "|---|---|",
        f"| recognised by | {cell(one.recognised_by)} |",
        f"| verdict | {cell(one.verdict_rule)} |",
        f"| attempts | {cell(one.attempt_rule)} |",
        f"| errors | {cell(one.error_rule)} |",
        f"| described at | {link(one.documentation)} |",
        "",
        "| column | is taken from |",
        "|---|---|",
        *(f"| `{column}` | {cell(source)} |" for column, source in one.fields),
        "",
    ]
    if one.reasons:
        lines += ["| reason of an attempt without a verdict | counts as |", "|---|---|"]
        lines += [f"| `{reason}` | {outcome} |" for reason, outcome in one.reasons.items()]
        lines += [""]
    return "\n".join([*lines, "```text", one.example, "```", ""])


def capital(text: str) -> str:
    """Begin a sentence."""
    return text[:1].upper() + text[1:]


def cell(text: str) -> str:
    """Write a text into a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def link(text: str) -> str:
    """Write an address, or a page of the docs, as a link."""
    return f"<{text}>" if text.startswith("http") else f"[{text}]({text.removeprefix('docs/')})"


def page() -> str:
    """Write the whole page."""
    rows = (f"| [{one.name}](#{one.name}) | {cell(one.title)} |" for one in FORMATS)
    table = "\n".join(["| format | what it is |", "|---|---|", *rows])
    policy = "\n".join(f"| `{reason}` | {outcome} |" for reason, outcome in general_policy())
    return HEAD.format(table=table, policy=policy) + "\n".join(section(one) for one in FORMATS)


def main() -> int:
    """Write the page, or compare it."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(), "utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == page():
        return 0
    print("docs/formats.md is not what the formats say: run python scripts/formats_page.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
