"""Writes ``docs/formats.md`` from what the formats say; ``--check`` fails where it is old."""

from __future__ import annotations

import sys
from pathlib import Path

from passk_py.ingest.formats import FORMATS, Format
from passk_py.ingest.formats.policy import general_policy

PAGE = Path(__file__).resolve().parent.parent / "docs" / "formats.md"

HEAD = """\
# Log formats

`passk load PATH...` takes files, globs and folders, and tells by its content what a file is. Files that are one log
together, such as the trials of a job, are read together. `passk formats NAME` prints what stands here.

Written by `scripts/formats_page.py` from `passk_py/ingest/formats/`.

{table}

## Options that describe a log

`--run-id`, `--suite`, `--agent`, `--model` and `--tag` apply to all attempts that a call loads, whatever the log says of itself.

- Where an option takes the place of a name that the log gives, `passk load` says so.
- A log that tells several runs, suites, agents or models apart is refused where an option names one: they would become one. A tag
  takes the place of one of the same name in each attempt.
- Logs that are given together under one `--run-id` are one run. Three logs of Inspect with one epoch each are attempts 1 to 3:

  ```shell
  passk load logs/2026-11-2*.eval --run-id nightly
  ```

  The attempts of a task are numbered on from log to log, in the order in which the logs are given; those of a folder or a glob come
  by name, `run-2` before `run-10`. Name all of them in one call: logs of one run that are loaded one after the other are each counted
  from 1, and `passk load` then says how to load them together. One more log may be added by naming it with the others.
- Logs in which an attempt has its own number keep it: `jsonl`, `json`, `csv`, `parquet` and mappings other than `attempt: in_order`. If two
  of them give one number of a task to different verdicts, `passk load` says so, and neither counts.

## Copies and separate logs

A file of the same bytes as another, such as a copy of a run in a subfolder, counts once; the one that lies deeper is left alone, and
`passk load` names it. Where two runs may write the same bytes, because nothing in them says when they were made (reports without
times, HumanEval's and lm-eval's samples), a file under another name counts, and is named too.

`passk load` also says where it took files for one run that could be several, or for several that could be one: files of two agents
in one folder of JUnit XML, evaluation runs of SWE-bench and Terminal-Bench whose names are not those of repeats, tests of one name.
Load files of one run with a `--run-id`, and files of different runs in calls of their own.

## Errors

An attempt that was graded keeps its verdict, whatever else went wrong: a timeout that passed all the same is a pass, and its
reason is kept beside it. An attempt without a verdict has at most a reason, and the reason decides: `failed` where the agent
caused it, `excluded` where it says nothing about the agent. What is asked first decides:

1. your own rules: `passk load --policy timeout=excluded`, or a YAML file of lines `reason: outcome`;
2. the format's own words, in its section below;
3. the general table, of which the first pattern that fits decides (`*` is anything, case does not matter);
4. nothing fits: excluded.

| reason | counts as |
|---|---|
{policy}

What has landed can still be decided otherwise when it is built, by the dbt var `passk_outcome_policy`.

## Retries

A runner that tries a test again because it failed, and stops at the first pass, makes every estimate too good: tries stop where they
suit. Attempts of such a test have the tag `reruns` where the report tells of the tries; `passk load` says so, and the diagnostic
[`retry_until_pass`](diagnostics.md#the-questions) warns. Switch retries off, and repeat each test a fixed number of times instead:

| runner | retries off | a fixed number of times |
|---|---|---|
| pytest | without `--reruns`; `-p no:rerunfailures` where tests are marked `flaky` | `--count 8`, with pytest-repeat |
| Playwright | `--retries=0`, or `retries: 0` in its config | `--repeat-each=8` |
| jest | without `jest.retryTimes`, or `jest.retryTimes(0)` | a loop around the run: `run-1.xml`, `run-2.xml`, ... |
| vitest | `--retry=0`, or `retry: 0` in its config | the option `repeats: 7` of a test, or a loop around the run |
| Surefire | `-Dsurefire.rerunFailingTestsCount=0` | JUnit's `@RepeatedTest(8)`, or a loop around the run |
| Bazel | `--flaky_test_attempts=1` | `--runs_per_test=8` |

jest-junit writes nothing of retries: a test that passed at the third try looks like one that passed at the first.

## Attempts that are missing

Where something says how many attempts there should be, those that the log does not hold are in `passk_missing_attempts`, and
`passk_runs` counts them. They are no failures and in no metric. What comes first counts:

1. a field or column `expected_attempts` of the rows, the same in each row of a task (`--map expected_attempts=$.planned` names
   another); rows of a task that differ are told of, and the most counts;
2. what the harness says in its log;
3. `passk load --expected-attempts 4`, for the tasks that the log holds.

## Names of runs

Where no row says its run, it is called after the file, without its endings. A name such as `samples_eval_results.json`,
`results.json` or `output.jsonl`, which the files of every run have, says nothing: the folder names the run then, or the one above
it where that is called `results` or the like too. So `gpt-5/samples_eval_results.json` and `o3/samples_eval_results.json` are the
runs `gpt-5` and `o3`. A name with a digit, `samples_2`, stays. `--run-id` says it otherwise; canonical logs have to say it.

## Scores and their threshold

`--score-threshold 0.5` says from where on a score passes, 1 by default. It decides for canonical rows that have neither `outcome` nor
`passed`, for mappings with `score`, for Inspect and for Harbor. Other formats have verdicts of their own, and a load says that
the threshold decides nothing. Where all verdicts are from scores and none reaches the threshold, a load says what the highest is.

## Files left out of a folder

Of a folder, files are read whose names end like those of a log. Others that hold JSON or a log of a known format, `a.out` or
`b.log`, are counted and named, and read when they are named themselves. Hidden files and links are left alone.

## Any other file

A mapping says where a row of any JSON, CSV or Parquet has what the attempt contract asks for:

```shell
passk load results.json --map 'rows=$.results' --map 'task_id=$.case.id' --map 'attempt=$.trial + 1' \\
  --map 'passed=$.score >= 0.8' --save-mapping ours
passk load next.json --mapping ours
```

The second line reads `passk_mappings/ours.yml`, which the first has written:

```yaml
rows: $.results
task_id: $.case.id
attempt: $.trial + 1
passed: $.score >= 0.8
```

| expression | means |
|---|---|
| `$.case.id`, `$["a b"]`, `$.scores[0]` | what stands there in a row; `$.name` is a column of a table |
| `$.score >= 0.8`, `$.status == 'ok'`, `$.kind in ('a', 'b')` | true, false, or null where there is no value |
| `$.trial + 1` | a number that starts elsewhere |
| `nightly` | this text, for every row |
| `attempt: in_order` | the tries of a task, numbered by `started_at` or, where there is none, in the order of the rows |
| `rows: $.results`, `rows: $.eval.*.*` | where in a document the rows are |
| `tags: {{domain: $.meta.domain}}`, `--map tags.domain=$.meta.domain` | tags |

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
