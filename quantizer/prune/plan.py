"""Pruning plans for layers, and the thresholds below which weights or channels are removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Graph
from mslite.quantizer.results import PruneRecord
from mslite.quantizer.settings import PruneParam

Reals = npt.NDArray[np.float64]
Change = Callable[[Graph], None]
"""Prunes one layer of the planned graph, or of a copy of it."""


@dataclass(frozen=True)
class Plan:
    """The pruning of one layer."""

    record: PruneRecord
    change: Change


def limits_of(scores: Sequence[Reals], param: PruneParam) -> list[float]:
    """Returns a threshold for each layer. Elements with at most this score are removed; -1 removes nothing."""
    joined = [np.concatenate([score.reshape(-1) for score in scores])] if scores and param.scope == "MODEL" else scores
    limits = []
    for score in joined:
        count = int(score.size * param.sparsity)
        limits.append(float(np.partition(score.reshape(-1), count - 1)[count - 1]) if count else -1.0)
    return limits * len(scores) if param.scope == "MODEL" else limits
