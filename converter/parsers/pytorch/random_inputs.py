"""Draws random inputs similar to a program's example inputs. Loaded by runner.py, which runs with PyTorch."""

from __future__ import annotations

from typing import Any

import torch  # type: ignore[import-untyped, import-not-found, unused-ignore]


def draw(example: Any, shape: list[int] | None, chance: Any, run: int) -> Any:
    """Draws values in the range of the example. In the second run, the first row of a mask masks everything."""
    if not isinstance(example, torch.Tensor) or example.is_complex():
        return example
    size = example.shape
    if shape is not None:
        size = torch.Size(own if wish < 0 else wish for own, wish in zip(size, shape, strict=True))
    if example.dtype is torch.bool:
        if not size:
            return example if run == 0 else ~example
        mask = torch.rand(size, generator=chance) < 0.6
        return _emptied(mask, False) if run else mask
    if not example.is_floating_point():
        if (
            example.dim() > 1 and example.numel() and int(example.min()) >= 0 and int(example.max()) == 1
        ):  # a mask of integers
            mask = (torch.rand(size, generator=chance) < 0.6).to(example.dtype)
            return _emptied(mask, 0) if run else mask
        return _draw_integers(example, size, chance)
    finite = example[torch.isfinite(example)].double()
    least, most = (float(finite.min()), float(finite.max())) if finite.numel() else (-1.0, 1.0)
    if least == most:
        least, most = (least - 1, most + 1) if least <= 0 else (0.0, 2 * most)
    drawn = (torch.rand(size, generator=chance, dtype=torch.float64) * (most - least) + least).to(example.dtype)
    if torch.isneginf(example).any():  # an additive mask
        drawn[torch.rand(size, generator=chance) < 0.4] = -torch.inf
        return _emptied(drawn, -torch.inf) if run else drawn
    return drawn


def _draw_integers(example: Any, size: Any, chance: Any) -> Any:
    """Draws integers in the range of the example. Keeps increasing ones: positions may have to be unique."""
    if example.numel() == 0:
        return torch.zeros(size, dtype=example.dtype)
    flat = example.reshape(-1)
    if size == example.shape and bool((flat[1:] > flat[:-1]).all()):
        return example
    least, most = int(example.min()), int(example.max())
    return torch.randint(least, most + 1, size, generator=chance, dtype=torch.int64).to(example.dtype)


def _emptied(mask: Any, nothing: Any) -> Any:
    """Sets the first row (along the last dimension) of the mask to `nothing`."""
    if mask.numel():
        mask[(0,) * (mask.dim() - 1)] = nothing
    return mask
