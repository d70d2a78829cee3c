"""Later builds and errors of dbt v2, which renders Jinja and runs SQL by engines of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .engines import MODELS

if TYPE_CHECKING:
    from .engines import WithDbt2

pytestmark = pytest.mark.timeout(1200)


def test_a_later_build_is_what_a_full_refresh_makes(with_dbt_2: WithDbt2) -> None:
    steps = list(with_dbt_2.grow({"passk_slices": ["domain"]}))
    assert len(steps) > 3


def test_wrong_vars_are_said_as_by_dbt_1(with_dbt_2: WithDbt2) -> None:
    said = r"There is no var passk_kz. Did you mean passk_ks\?"
    with pytest.raises(RuntimeError, match=said):
        with_dbt_2.build_there({"passk_kz": [1]}, command=MODELS)
