"""A chart of the accuracy of each round, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

COLORS = ("#2980b9", "#c0392b", "#27ae60")
LEFT, RIGHT, TOP, BOTTOM = 56, 690, 96, 376


def picture(title: str, below: str, curves: Mapping[str, Sequence[float]]) -> str:
    """Returns the chart. `curves`: label -> accuracy (0 to 1) before the first round and after each round."""
    rounds = max(len(values) for values in curves.values()) - 1

    def x(number: int) -> float:
        return round(LEFT + (RIGHT - LEFT) * number / rounds, 1)

    def y(accuracy: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * accuracy, 1)

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="720" height="430" viewBox="0 0 720 430" '
        'font-family="sans-serif" font-size="12" fill="#222">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="16" y="24" font-size="15" font-weight="bold">{title}</text>',
        f'<text x="16" y="43" fill="#666">{below}</text>',
    ]
    for percent in range(0, 101, 20):
        height = y(percent / 100)
        parts += [
            f'<line x1="{LEFT}" x2="{RIGHT}" y1="{height}" y2="{height}" stroke="#e4e4e4"/>',
            f'<text x="{LEFT - 8}" y="{height + 4}" text-anchor="end" fill="#666">{percent} %</text>',
        ]
    parts += [
        f'<text x="{x(number)}" y="{BOTTOM + 20}" text-anchor="middle" fill="#666">{number}</text>'
        for number in range(0, rounds + 1, max(1, rounds // 10))
    ]
    parts.append(f'<text x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 42}" text-anchor="middle" fill="#666">round</text>')
    for row, ((name, values), color) in enumerate(zip(curves.items(), COLORS, strict=False)):
        points = " ".join(f"{x(number)},{y(value)}" for number, value in enumerate(values))
        parts += [
            f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2.5"/>',
            *(
                f'<circle cx="{x(number)}" cy="{y(value)}" r="3.5" fill="{color}"/>'
                for number, value in enumerate(values)
            ),
            f'<circle cx="22" cy="{62 + 18 * row}" r="5" fill="{color}"/>',
            f'<text x="33" y="{66 + 18 * row}">{name}: {values[-1]:.1%} after round {rounds}</text>',
        ]
    return "\n".join([*parts, "</svg>\n"])
