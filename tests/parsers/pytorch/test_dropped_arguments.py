"""Arguments that torch's ONNX exporter drops: computed as PyTorch does, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.options import Options
from mslite.converter.verify.comparison import AGREES

from .test_pytorch import needs_torch


def arrays(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    """Random numbers, the same in every call."""
    import torch

    chance = torch.Generator().manual_seed(4)
    return tuple(torch.randn(shape, generator=chance) for shape in shapes)


def _attention(mask: Callable[[], Any], **options: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    import torch.nn.functional as F

    q, k, v = arrays((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4))
    return lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m, **options), (q, k, v, mask())


def _scattered(**options: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    import torch

    index = torch.tensor([[0, 1, 2], [2, 2, 0]])
    return lambda x, i, s: x.scatter_reduce(1, i, s, "mean", **options), (*arrays((2, 4)), index, *arrays((2, 3)))


def _integers() -> tuple[Any, ...]:
    import torch

    return (torch.arange(12).reshape(3, 4) % 5,)


def _computed() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    import torch
    import torch.nn.functional as F

    image, volume = arrays((2, 3, 8, 9), (1, 2, 4, 5, 6))
    shown = torch.tensor([[True, False, True, True, False], [False] * 5, [True] * 5])
    q, k, v = arrays((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4))
    return {
        "avg_pool2d": (lambda x: F.avg_pool2d(x, (2, 3), 2, 1, divisor_override=5), (image,)),
        "avg_pool2d one size": (lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=4), (image,)),
        "avg_pool3d": (lambda x: F.avg_pool3d(x, 2, divisor_override=3), (volume,)),
        "scatter_reduce": _scattered(),
        "scatter_reduce without self": _scattered(include_self=False),
        "boolean mask": _attention(lambda: shown),
        "mask of padding": _attention(lambda: shown[:, None, None, :][:1]),
        "mask that is added": _attention(lambda: torch.where(shown, 0.0, -torch.inf)),
        "constant mask": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=shown), (q, k, v)),
        "negative scale": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=-0.3), (q, k, v)),
        "mean of integers": (lambda x: torch.mean(x, 1, dtype=torch.float32), _integers()),
        "softmax of integers": (lambda x: torch.softmax(x, 1, dtype=torch.float32), _integers()),
        "log_softmax of integers": (lambda x: F.log_softmax(x, 1, dtype=torch.float32), _integers()),
        **{
            f"aligned {mode}": (
                lambda x, mode=mode: F.interpolate(x, scale_factor=1.7, mode=mode, align_corners=True),
                (x,),
            )
            for mode, x in {"linear": image[0], "bilinear": image, "bicubic": image, "trilinear": volume}.items()
        },
        "cumsum of integers": (lambda x: torch.cumsum(x * 0.6, 1, dtype=torch.int64), _integers()),
    }


def _refused() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]]:
    import torch.nn.functional as F

    image, rows, numbers = arrays((2, 3, 16, 16), (6, 5), (4, 3))
    return {
        "ceil_mode": (
            lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True, divisor_override=5),
            (image,),
            "drops divisor_override of 'avg_pool2d'",
        ),
        "antialias": (
            lambda x: F.interpolate(x, scale_factor=0.37, mode="bilinear", antialias=True),
            (image,),
            r"drops the scale 0\.37 of '_upsample_bilinear2d_aa'",
        ),
        "dropout": (
            lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.25),
            arrays((1, 2, 3, 4)),
            r"drops dropout_p=0\.25 of 'scaled_dot_product_attention'",
        ),
        "label_smoothing": (
            lambda x: F.cross_entropy(x, x.argmax(1), label_smoothing=0.1),
            (rows,),
            r"drops label_smoothing=0\.1",
        ),
        "training mode": (
            lambda x: F.batch_norm(x, x.mean(0), x.var(0), training=True),
            (numbers,),
            r"drops the training mode of '.*'.*model\.eval\(\)",
        ),
    }


def saved(function: Callable[..., Any], inputs: tuple[Any, ...], path: Path) -> Path:
    """The program of `function`, written to `path`."""
    import torch

    class Network(torch.nn.Module):
        def forward(self, *inputs: Any) -> Any:
            return function(*inputs)

    torch.export.save(torch.export.export(Network().eval(), inputs), str(path))
    return path


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_what_is_computed(tmp_path: Path) -> None:
    """In one program with an output for each; the conversion compares, with a row of each mask that shows nothing in the second run."""
    cases = list(_computed().values())

    def every(*inputs: Any) -> tuple[Any, ...]:
        rest = list(inputs)
        return tuple(function(*[rest.pop(0) for _ in own]) for function, own in cases)

    path = saved(every, tuple(one for _, own in cases for one in own), tmp_path / "net.pt2")
    assert AGREES in convert(Options(path, tmp_path / "net")).notes


@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_aligned_corners_of_open_sizes(tmp_path: Path) -> None:
    """A scale that is rounded for some sizes."""
    import torch
    import torch.nn.functional as F

    class Network(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return F.interpolate(x, scale_factor=1.7, mode="bilinear", align_corners=True)

    sizes = ({2: torch.export.Dim("height", min=2, max=99)},)
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(Network(), arrays((1, 2, 8, 9)), dynamic_shapes=sizes), str(path))
    with pytest.raises(ConversionError, match=r"drops the rounding of the scales .*1\.7.*Give interpolate\(\) a size"):
        convert(Options(path, tmp_path / "net", compare=False))


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["ceil_mode", "antialias", "dropout", "label_smoothing", "training mode"])
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    function, inputs, message = _refused()[name]
    path = saved(function, inputs, tmp_path / "net.pt2")
    with pytest.raises(ConversionError, match=message) as caught:
        convert(Options(path, tmp_path / "net", compare=False))
    assert caught.value.code is ReturnCode.NOT_SUPPORTED
