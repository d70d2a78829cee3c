"""The dashboards: which charts they have, where those stand, and what they can be filtered by."""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.dashboards.compare_dashboard import COMPARE
from passk_py.reports.superset.dashboards.costs_dashboard import COSTS
from passk_py.reports.superset.dashboards.dashboard_parts import Dashboard, Filter
from passk_py.reports.superset.dashboards.details_dashboard import DETAILS
from passk_py.reports.superset.dashboards.gates_dashboard import GATES
from passk_py.reports.superset.dashboards.overview_dashboard import OVERVIEW
from passk_py.reports.superset.dashboards.run_dashboard import RUN
from passk_py.reports.superset.dashboards.tasks_dashboard import TASKS

__all__ = ["DASHBOARDS", "Dashboard", "Filter"]

DASHBOARDS: Final = (OVERVIEW, RUN, COMPARE, TASKS, COSTS, DETAILS, GATES)
