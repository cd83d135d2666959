"""The results of a comparison, and the files that store them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

TOLERANCE = 1e-3


@dataclass(frozen=True)
class Learned:
    """The loss of each step, and the score on held-out rows afterwards."""

    losses: list[float]
    score: float
    """Accuracy, or mean squared error for regression."""


@dataclass(frozen=True)
class Result:
    name: str
    optimizer: str
    here: Learned
    single: Learned
    """PyTorch in float32."""
    double: Learned
    """PyTorch in float64."""

    @property
    def difference(self) -> float:
        """Largest difference of all steps, relative to PyTorch's loss in float32."""
        return max(relative(self.here.losses, self.single.losses))

    @property
    def rounding(self) -> float:
        """The same between PyTorch's two precisions: the effect of rounding alone."""
        return max(relative(self.single.losses, self.double.losses))

    def summary(self) -> str:
        losses = self.single.losses
        scores = ", ".join(f"{one.score:.4f}" for one in (self.here, self.single, self.double))
        return (
            f"{self.name}: {self.difference:.1e} from PyTorch, whose own rounding is {self.rounding:.1e}; "
            f"loss {losses[0]:.3f} to {losses[-1]:.3f}, held out {scores}"
        )


@dataclass(frozen=True)
class Refused:
    """A network that mslite cannot train, and the reason."""

    name: str
    reason: str

    def summary(self) -> str:
        return f"{self.name}: {self.reason}"


def relative(found: Sequence[float], expected: Sequence[float]) -> list[float]:
    """Returns the relative difference of each step's loss from the expected one."""
    return [abs(one - other) / abs(other) for one, other in zip(found, expected, strict=True)]


def _file(name: str, folder: Path) -> Path:
    return folder / f"{''.join(letter if letter.isalnum() else '_' for letter in name)}.json"


def save(result: Result | Refused, folder: Path) -> None:
    _file(result.name, folder).write_text(json.dumps(asdict(result)), encoding="utf-8")


def load(names: Sequence[str], folder: Path) -> list[Result | Refused]:
    """Returns the compared networks of `names`, in that order."""
    found: list[Result | Refused] = []
    for name in names:
        file = _file(name, folder)
        if not file.is_file():
            continue
        kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if "reason" in kept:
            found.append(Refused(**kept))
        else:
            learned = {key: Learned(**kept[key]) for key in ("here", "single", "double")}
            found.append(Result(kept["name"], kept["optimizer"], **learned))
    return found
