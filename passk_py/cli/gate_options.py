"""The options of ``passk gate`` that are a rule by themselves."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from passk_py.cli.shared_options import add_options
from passk_py.common.errors import PasskError
from passk_py.common.words import and_list

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

F = TypeVar("F", bound="Callable[..., Any]")

RULE_NAME: Final = "rule"
"""The name of a rule that is given by options."""

_TYPES: Final = {
    "min": "threshold",
    "max": "coverage",
    "max_drop": "drop",
    "max_increase": "cost_increase",
    "diagnostics": "diagnostics",
}
"""The type of a rule by what its options ask for."""
_RATES: Final = ("pass_hat_k", "pass_at_k", "pass_m_of_k")
_LIMITS: Final = {
    "min": ("pass rates", "--max {} allows at most"),
    "max": ("shares of attempts and costs", "--min {} requires at least"),
}
RULE_HELP: Final = "`passk gate --help` lists the options of a rule."


class _RuleOption(click.Option):
    """An option of a rule."""


_option: Final = partial(click.option, cls=_RuleOption)
_OPTIONS: Final = (
    _option(
        "--run",
        metavar="RUN_ID",
        help="Judge this run, 'latest' or 'all'. [default: latest, of each suite and agent]",
    ),
    _option("--suite", help="Judge this suite only. [default: all]"),
    _option("--agent", help="Judge this agent only. [default: all]"),
    _option(
        "--metric",
        help="Judge pass_hat_k, pass_at_k or pass_m_of_k (with --min); excluded_attempts, "
        "missing_attempts, rejected_attempts, regressed_tasks, or a cost such as cost_usd (with "
        "--max).",
    ),
    _option(
        "--k",
        type=click.IntRange(1),
        help="Judge the metric at this k. [default: passk_deployment_k]",
    ),
    _option("--m", type=click.IntRange(1), help="Require M of k passes, with pass_m_of_k."),
    _option("--min", "least", type=float, help="Require at least this value."),
    _option(
        "--max", "most", type=float, help="Allow at most this share, number of tasks, or cost."
    ),
    _option("--max-drop", type=float, help="Allow at most this drop below the baseline."),
    _option(
        "--max-increase",
        type=float,
        help="Let a cost rise by at most this share of the baseline's.",
    ),
    _option("--statistic", help="Judge mean, p95 or per_success of a cost. [default: mean]"),
    _option(
        "--baseline",
        metavar="RUN_ID",
        help="Compare with this run. [default: that of passk_pairs or passk_baseline, or the run "
        "before]",
    ),
    _option(
        "--last",
        type=click.IntRange(3, 100),
        metavar="N",
        help="Compare with the mean of the N runs before the judged one, with --max-drop.",
    ),
    _option("--each", help="Judge each `task`, or each value of this slice."),
    _option("--slice-value", help="Judge this value of the slice only."),
    _option(
        "--scope",
        type=click.Choice(["unseen", "suite"]),
        help="Judge for tasks like these (unseen), or for these tasks only (suite). "
        "[default: unseen; suite with --max-drop]",
    ),
    _option(
        "--diagnostic",
        "diagnostics",
        multiple=True,
        help="Allow no warning of this diagnostic, or of 'all'.",
    ),
    _option(
        "--sequential",
        is_flag=True,
        default=None,
        help="Use a test that stays valid however often you judge while tasks finish.",
    ),
    _option(
        "--attempts",
        type=click.IntRange(1),
        metavar="N",
        help="Use only the first N attempts of each task, with --sequential. [default: k]",
    ),
)


class GateCommand(click.Command):
    """The command whose help lists the options of a rule apart."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the command, and then those of a rule."""
        of_rule = [one for one in self.get_params(ctx) if isinstance(one, _RuleOption)]
        others = [one for one in self.get_params(ctx) if one not in of_rule]
        for heading, params in (("Options", others), ("Options of a rule", of_rule)):
            with formatter.section(heading):
                formatter.write_dl(
                    [told for one in params if (told := one.get_help_record(ctx)) is not None]
                )


def rule_options(command: F) -> F:
    """Add the options of a rule to a command."""
    return add_options(command, _OPTIONS)


def rule_of_options(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Make a rule of the options; None if none of them is given."""
    keys = {"least": "min", "most": "max"}
    given = {
        keys.get(name, name): value for name, value in options.items() if value not in (None, ())
    }
    if not given:
        return None
    for name, value in given.items():
        # `--max 0` is the whole number that a file of rules would have.
        if isinstance(value, float) and value.is_integer():
            given[name] = int(value)
    if "last" in given:
        if "baseline" in given:
            raise PasskError("--last can't be combined with --baseline.", hint=RULE_HELP)
        if not given.keys().isdisjoint(_TYPES.keys() - {"max_drop"}):
            raise PasskError("--last is for --max-drop alone.", hint=RULE_HELP)
        given["baseline"] = {"last": given.pop("last")}
    if "diagnostics" in given:
        given["diagnostics"] = list(given["diagnostics"])
    return {"name": RULE_NAME, **given}


def typed_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Give a rule of options its type, and drop an option that says no more than the type."""
    from passk_py.metrics.gates.rule_schema import SCHEMA

    asked = [name for name in _TYPES if name in rule]
    if len(asked) != 1:
        what = f"{' and '.join(asked)} stand together" if asked else "nothing is asked for"
        raise PasskError(
            f"{what}; a gate has one of {and_list(_TYPES, most=len(_TYPES))}.", hint=RULE_HELP
        )
    metric, limit = rule.get("metric"), asked[0]
    is_cost = metric in SCHEMA["measures"]
    if (limit == "min" and is_cost) or (limit == "max" and metric in _RATES):
        of, other = _LIMITS[limit]
        raise PasskError(
            f"--{limit} is a limit for {of}, not for {metric}.",
            hint=f"{other.format(rule[limit])} this {metric}.",
        )
    rule_type, said_by = _TYPES[limit], None
    if rule_type == "threshold" and rule.get("each") == "task":
        rule_type, said_by = "each_task", "each"
    elif rule_type == "coverage" and rule.get("metric") == "regressed_tasks":
        rule_type, said_by = "regressed_tasks", "metric"
    elif rule_type == "coverage" and is_cost:
        rule_type = "cost"
    return {"type": rule_type, **{key: value for key, value in rule.items() if key != said_by}}
