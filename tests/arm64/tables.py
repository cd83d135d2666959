"""Writes Markdown tables of the counts, and of changes since an earlier run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.arm64.counting import SETTINGS, Count

OWN = "mslite "
"""Prefix of the names of mslite's builds."""
MORE = 1.01
"""Ratios of cache misses up to this one are not reported."""


def _rows(counts: Sequence[Count], setting: str) -> dict[tuple[str, str], Count]:
    return {(count.network, count.runtime): count for count in counts if count.setting == setting}


def _names(counts: Sequence[Count]) -> list[str]:
    return list(dict.fromkeys(count.setting for count in counts))


def _mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def table(counts: Sequence[Count]) -> str:
    """For each setting: million instructions of each runtime, mslite's divided by the best other runtime's, and memory traffic."""
    text = []
    told = {setting.name: setting.told for setting in SETTINGS}
    for setting in _names(counts):
        rows = _rows(counts, setting)
        networks = list(dict.fromkeys(network for network, _ in rows))
        runtimes = list(dict.fromkeys(runtime for _, runtime in rows))
        own = [name for name in runtimes if name.startswith(OWN)]
        peers = [name for name in runtimes if not name.startswith(OWN)]
        shown = f", peers are told {told[setting]}" if peers and told.get(setting, "") not in setting else ""
        heads = ["network", *runtimes, *([f"{name} / best peer" for name in own] if peers else [])]
        text += [f"**{setting}**{shown}, million instructions:\n", _line(heads), "|---|" + "--:|" * (len(heads) - 1)]
        ratios: dict[str, list[float]] = {name: [] for name in own}
        for network in networks:
            cells = [network]
            for runtime in runtimes:
                found = rows.get((network, runtime))
                cells.append(f"{found.instructions / 1e6:.1f}" if found else "-")
            theirs = [rows[network, name].instructions for name in peers if (network, name) in rows]
            for name in own if peers else []:
                if theirs and (network, name) in rows:
                    ratios[name].append(rows[network, name].instructions / min(theirs))
                    cells.append(f"{ratios[name][-1]:.2f}")
                else:
                    cells.append("-")
            text.append(_line(cells))
        if any(ratios.values()):
            means = [f"{_mean(found):.2f}" if found else "-" for found in ratios.values()]
            text.append(_line(["geometric mean", *([""] * len(runtimes)), *means]))
        text.append("")
        text += _traffic(rows, networks, [own[0] if own else runtimes[0]])
    return "\n".join(text)


def _traffic(rows: dict[tuple[str, str], Count], networks: list[str], runtimes: list[str]) -> list[str]:
    text = []
    for runtime in runtimes:
        text += [
            f"Memory of {runtime}:\n",
            _line(["network", "MB loaded", "MB stored", "L1 misses, thousands", "L2 misses"]),
        ]
        text.append("|---|" + "--:|" * 4)
        for network in networks:
            if found := rows.get((network, runtime)):
                numbers = (found.loaded / 1e6, found.stored / 1e6, found.l1_misses / 1e3, found.l2_misses / 1e3)
                text.append(_line([network, *(f"{number:.0f}" for number in numbers)]))
        text.append("")
    return text


def comparison(old: Sequence[Count], new: Sequence[Count]) -> tuple[str, list[str]]:
    """Returns new / old counts if both exist, and the networks with more L2 misses in a build of mslite."""
    before = {(count.setting, count.network, count.runtime): count for count in old}
    heads = ["setting", "network", "runtime", "instructions", "bytes", "L1 misses", "L2 misses"]
    text = [_line(heads), "|---|---|---|" + "--:|" * 4]
    worse = []
    for count in new:
        was = before.get((count.setting, count.network, count.runtime))
        if was is None:
            continue
        ratios = [
            count.instructions / was.instructions,
            (count.loaded + count.stored) / (was.loaded + was.stored),
            count.l1_misses / max(was.l1_misses, 1),
            count.l2_misses / max(was.l2_misses, 1),
        ]
        text.append(_line([count.setting, count.network, count.runtime, *(f"{ratio:.3f}" for ratio in ratios)]))
        if count.runtime.startswith(OWN) and ratios[-1] > MORE:
            worse.append(f"{count.network}, {count.setting}, {count.runtime}: {was.l2_misses} -> {count.l2_misses}")
    return "\n".join(text) + "\n", worse
