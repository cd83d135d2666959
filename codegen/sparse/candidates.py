"""Candidates for training: the bias of a layer, or the weights of a fraction of its input channels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from mslite.converter.training import LayerUpdate, TrainableLayer

SHARES = (Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(1))


@dataclass(frozen=True)
class UpdateCandidate:
    """The bias of a layer if `share` is 0, otherwise the weights of this fraction of its input channels."""

    layer: str
    share: Fraction = Fraction(0)

    @property
    def text(self) -> str:
        return f"{self.layer}: {name_of(self.share)}"


def name_of(share: Fraction) -> str:
    """Returns a text for a share: "bias", "all weights" or "1/4 of the weights"."""
    return "bias" if not share else "all weights" if share == 1 else f"{share} of the weights"


def update_candidates(layers: Collection[TrainableLayer]) -> list[UpdateCandidate]:
    """Returns all candidates, in the order of the forward pass. Shares with equal numbers of channels are listed
    once."""
    found = []
    for layer in layers:
        if layer.has_bias:
            found.append(UpdateCandidate(layer.name))
        counts: dict[int, Fraction] = {}
        for share in SHARES if layer.channels else SHARES[-1:] if layer.has_weights else ():
            counts[max(1, round(share * layer.channels))] = share
        found += [UpdateCandidate(layer.name, share) for share in counts.values()]
    return found


def updates_of(chosen: Collection[UpdateCandidate]) -> tuple[tuple[str, LayerUpdate], ...]:
    """Returns the entries of [sparse_update] for a set of candidates, with the largest share of each layer's
    weights."""
    layers: dict[str, LayerUpdate] = {}
    for choice in chosen:
        old = layers.get(choice.layer, LayerUpdate())
        layers[choice.layer] = LayerUpdate(max(old.share, choice.share), bias=old.bias or not choice.share)
    return tuple(layers.items())
