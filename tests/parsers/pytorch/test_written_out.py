"""Operators that torch's ONNX exporter lacks or computes otherwise: the results are the program's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.verify.comparison import AGREES

from .test_dropped_arguments import arrays, saved
from .test_pytorch import needs_torch

_Cases = dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]


def _copies() -> _Cases:
    """Contents of another type or shape than what they are written into, and values for all places of a mask."""
    import torch

    (x,) = arrays((3, 4))
    rows = torch.tensor([True, False, True])

    def put(place: Any, value: Any) -> Callable[..., Any]:
        def function(x: Any) -> Any:
            y = x.clone()
            y[place] = value
            return y

        return function

    return {
        "repeated": (lambda x: torch.ones(2, 3, 4).copy_(x), (x,)),
        "to integers": (lambda x: torch.ones(3, 4, dtype=torch.int64).copy_(x * 9), (x,)),
        "to booleans": (lambda x: torch.ones(3, 4, dtype=torch.bool).copy_(x.round()), (x,)),
        "rows": (put(rows, 5.0), (x,)),
        "a row for all": (put(rows, torch.arange(4.0)), (x,)),
        "a row for all, with a dimension": (put(rows, torch.arange(4.0)[None]), (x,)),
        "behind": (put((slice(None), torch.tensor([True, False, False, True])), 5.0), (x,)),
        "two dimensions": (put(torch.arange(12).reshape(3, 4) % 5 < 2, torch.arange(2.0)), arrays((3, 4, 2))),
        "added": (lambda x: x.index_put((rows,), torch.tensor(2.0), accumulate=True), (x,)),
    }


def _bags() -> _Cases:
    import torch
    import torch.nn.functional as F

    table, weights = arrays((10, 3), (4, 5))
    bags = torch.randint(0, 10, (4, 5), generator=torch.Generator().manual_seed(4))
    starts = torch.tensor([0, 3, 3, 15])
    found: _Cases = {
        "weights": (
            lambda i, w: F.embedding_bag(i, table, mode="sum", per_sample_weights=w),
            (bags, weights),
        ),
        "last offset": (
            lambda i: F.embedding_bag(i.reshape(-1)[:15], table, starts, mode="sum", include_last_offset=True),
            (bags,),
        ),
    }
    for mode in ("sum", "mean", "max"):
        found[mode] = (lambda i, mode=mode: F.embedding_bag(i, table, mode=mode), (bags,))
        found[f"{mode} of parts, one of them empty"] = (
            lambda i, mode=mode: F.embedding_bag(i.reshape(-1), table, starts, mode=mode),
            (bags,),
        )
        found[f"{mode} with padding"] = (
            lambda i, mode=mode: F.embedding_bag(i % 3, table, mode=mode, padding_idx=-9),
            (bags,),
        )
    return found


def _losses() -> _Cases:
    import torch
    import torch.nn.functional as F

    scores, shares, maps = arrays((3, 4), (3, 4), (3, 4, 5))
    weight = torch.arange(1.0, 5.0)
    return {
        "probabilities": (F.cross_entropy, (scores, shares.abs())),
        "weighed": (lambda x, t: F.cross_entropy(x, t, weight, reduction="sum"), (scores, shares.abs())),
        "of maps": (lambda x, t: F.cross_entropy(x, t, weight, reduction="none"), (maps, maps.abs())),
        "without a batch": (F.cross_entropy, (scores[0], torch.tensor(2))),
        "of shares without a batch": (F.cross_entropy, (scores[0], shares[0].abs())),
        "each, without a batch": (lambda x, t: F.cross_entropy(x, t, reduction="none"), (scores[0], torch.tensor(2))),
    }


def _numbers() -> _Cases:
    import torch

    x, y, z = arrays((3, 4), (5, 4), (3, 4))
    integers = torch.arange(-6, 6).reshape(3, 4)
    return {
        "stable": (lambda x: tuple(torch.sort(x % 3, dim=1, stable=True)), (integers,)),
        "stable, descending": (lambda x: torch.argsort(x % 3, dim=0, descending=True, stable=True), (integers,)),
        **{f"cdist {p}": (lambda x, y, p=p: torch.cdist(x, y, p), (x, y)) for p in (0.0, 1.0, 2.0, torch.inf)},
        "power 0 of matrices": (lambda x: torch.matrix_power(x, 0), arrays((2, 3, 3))),
        "logaddexp": (lambda x, y: torch.logaddexp(x * 90, y * 90), (x, z)),
        "logaddexp of infinities": (lambda x: torch.logaddexp(x / 0, x / 0), (x,)),
        "logcumsumexp": (lambda x: torch.logcumsumexp(x * 90, 1), (x,)),
        "logcumsumexp, first axis": (lambda x: torch.logcumsumexp(x * 90, -2), (x,)),
        "largest of all": (lambda x: (x.amax(), x.amin()), (x,)),
        "norm of integers": (lambda x: torch.linalg.vector_norm(x, dim=1, dtype=torch.float32), (integers.half(),)),
        "operators of masks": (lambda x: ((x > 0) & (x < 2)) | ((x > 3) ^ (x > 4)), (integers,)),
        "operators of bits": (lambda x: ((x & 6) | (x ^ 3), x << 2, x >> 1, x << (x & 3)), (integers,)),
        "shifted uint8": (lambda x: (x << 2, x >> 1, x << (x & 3), x.clone().__ilshift__(1)), (integers.byte(),)),
        "any of nothing": (lambda x: (x[:0].any(), x[:0].any(0), x[:, :0].any(1, keepdim=True), x[:0].all()), (x,)),
    }


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["copies", "bags", "losses", "numbers"])
def test_what_is_computed(name: str, tmp_path: Path) -> None:
    """In one program with an output for each."""
    cases = list({"copies": _copies, "bags": _bags, "losses": _losses, "numbers": _numbers}[name]().values())

    def every(*inputs: Any) -> tuple[Any, ...]:
        rest = list(inputs)
        return tuple(function(*[rest.pop(0) for _ in own]) for function, own in cases)

    path = saved(every, tuple(one for _, own in cases for one in own), tmp_path / "net.pt2")
    assert AGREES in convert(Options(path, tmp_path / "net")).notes


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_open_sizes(tmp_path: Path) -> None:
    import torch
    import torch.nn.functional as F

    (table,) = arrays((10, 3))

    class Network(torch.nn.Module):
        def forward(self, i: Any, x: Any) -> Any:
            return F.embedding_bag(i, table, mode="mean"), torch.zeros_like(x).copy_(x[0]), torch.cdist(x, table)

    sizes = ({0: torch.export.Dim("bags", max=9)}, {0: torch.export.Dim("rows", max=9)})
    inputs = (torch.arange(8).reshape(4, 2), *arrays((4, 3)))
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(Network(), inputs, dynamic_shapes=sizes), str(path))
    assert AGREES in convert(Options(path, tmp_path / "net")).notes
    wider = Options(path, tmp_path / "net", input_shapes={"i": (6, 2), "x": (7, 3)})
    assert AGREES in convert(wider).notes
