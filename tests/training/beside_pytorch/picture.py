"""Draws the curves as an SVG: for each network a panel with the losses, and below it their differences at each step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from .results import TOLERANCE, Result, relative

_HERE, _PYTORCH, _ROUNDING = "#c0392b", "#7fb3d5", "#9a9a9a"
_COLUMNS, _WIDTH, _HEIGHT, _TOP = 3, 250, 230, 76
_LEFT, _RIGHT = 40, 238
_LOSS, _APART = (30, 128), (146, 206)
"""Vertical positions of the losses and the differences in a panel."""
_SMALLEST, _LARGEST = -8, 1
"""Range of the differences in powers of ten."""


def picture(results: Sequence[Result], title: str, below: str) -> str:
    rows = math.ceil(len(results) / _COLUMNS)
    width, height = _COLUMNS * _WIDTH + 20, _TOP + rows * _HEIGHT + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="10" fill="#222">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="16" y="24" font-size="15" font-weight="bold">{escape(title)}</text>',
        f'<text x="16" y="42" fill="#666">{escape(below)}</text>',
        *_legend(),
    ]
    for number, result in enumerate(results):
        x, y = 10 + number % _COLUMNS * _WIDTH, _TOP + number // _COLUMNS * _HEIGHT
        parts += [f'<g transform="translate({x},{y})">', *_panel(result), "</g>"]
    return "\n".join([*parts, "</svg>\n"])


def _legend() -> list[str]:
    entries = (
        (_PYTORCH, 5, "", "loss of PyTorch, float32"),
        (_HERE, 1.4, "", "loss of mslite; their difference"),
        (_ROUNDING, 1.2, ' stroke-dasharray="3 2"', "difference of PyTorch's float32 and float64"),
    )
    parts, x = [], 16
    for color, wide, dashes, text in entries:
        parts += [
            f'<line x1="{x}" x2="{x + 24}" y1="58" y2="58" stroke="{color}" stroke-width="{wide}"{dashes}/>',
            f'<text x="{x + 30}" y="62">{text}</text>',
        ]
        x += 50 + 6 * len(text)
    return parts


def _panel(result: Result) -> list[str]:
    losses = (result.single.losses, result.here.losses)
    steps, most = len(losses[0]), max(map(max, losses))
    low, high = _LOSS

    def x(step: int) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * step / max(steps - 1, 1), 1)

    def loss(value: float) -> float:
        return round(high - (high - low) * value / most, 1)

    def apart(value: float) -> float:
        power = min(max(math.log10(value) if value > 0 else _SMALLEST, _SMALLEST), _LARGEST)
        return round(_APART[1] - (_APART[1] - _APART[0]) * (power - _SMALLEST) / (_LARGEST - _SMALLEST), 1)

    def line(heights: Sequence[float], color: str, wide: float, dashes: str = "") -> str:
        points = " ".join(f"{x(step)},{height}" for step, height in enumerate(heights))
        return f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="{wide}"{dashes}/>'

    return [
        f'<text x="{_LEFT}" y="20" font-size="12" font-weight="bold">{escape(result.name)}</text>',
        *(_tick(loss(value), f"{value:.2g}") for value in (0, most / 2, most)),
        line([loss(value) for value in losses[0]], _PYTORCH, 5),
        line([loss(value) for value in losses[1]], _HERE, 1.4),
        *(_tick(apart(10.0**power), f"1e{power}") for power in (-8, -6, -3, 0)),
        f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{apart(TOLERANCE)}" y2="{apart(TOLERANCE)}" stroke="#222" stroke-width="0.7"/>',
        line(
            [apart(value) for value in relative(result.single.losses, result.double.losses)],
            _ROUNDING,
            1.2,
            ' stroke-dasharray="3 2"',
        ),
        line([apart(value) for value in relative(result.here.losses, result.single.losses)], _HERE, 1.4),
        *(
            f'<text x="{x(step)}" y="{_APART[1] + 13}" text-anchor="middle" fill="#666">{step + 1}</text>'
            for step in sorted({0, steps // 2 - 1, steps - 1})
            if step >= 0
        ),
    ]


def _tick(height: float, text: str) -> str:
    return (
        f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{height}" y2="{height}" stroke="#e8e8e8"/>'
        f'<text x="{_LEFT - 4}" y="{height + 3}" text-anchor="end" fill="#666">{text}</text>'
    )
