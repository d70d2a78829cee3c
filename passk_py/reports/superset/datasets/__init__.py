"""The datasets of Superset: the public tables, with metrics that can't be aggregated wrongly.

pass@k and pass^k can't be added up or averaged. So each metric of them is null wherever a group has
more than one row, as the metrics of ``semantic/`` are, and counts alone are added.
"""

from __future__ import annotations

from typing import Final

from passk_py.reports.superset.datasets.cost_datasets import COST, COST_DATASETS
from passk_py.reports.superset.datasets.dataset_parts import LOWER, UPPER, Column, Dataset, sole
from passk_py.reports.superset.datasets.detail_datasets import DETAIL_DATASETS, LENGTH
from passk_py.reports.superset.datasets.judged_datasets import JUDGED_DATASETS
from passk_py.reports.superset.datasets.metric_datasets import METRIC_DATASETS

__all__ = ["COST", "DATASETS", "LENGTH", "LOWER", "UPPER", "Column", "Dataset", "sole"]

DATASETS: Final = (*METRIC_DATASETS, *JUDGED_DATASETS, *COST_DATASETS, *DETAIL_DATASETS)
