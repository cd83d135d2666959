"""Kernels on shapes that hypothesis draws: against the NumPy references, with one and three threads, on every
instruction set of this machine. The draws are the same in every run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from mslite.converter.mindir.reference import REFERENCES

from . import random_calls as calls
from . import random_images as images
from . import random_regions as regions
from . import random_sequences as sequences
from .calls import difference, results

BOUNDED = settings(
    max_examples=100,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check(call: calls.Call) -> None:
    """Every kernel that takes the call computes what the reference says, and the same bits with three threads."""
    inputs = [np.asarray(array, order="C") for array in call.inputs]
    with np.errstate(all="ignore"):
        wanted = [np.asarray(array) for array in REFERENCES[call.op.name](call.op, inputs)]
    for kernel, outputs in results(call.op, inputs, call.constants, len(wanted)):
        for got, want in zip(outputs, wanted, strict=True):
            assert difference(got, want, call.tolerance) == "", kernel


STRATEGIES = {
    "unary": calls.unary(),
    "activation": calls.activations(),
    "binary": calls.binary(),
    "where": calls.where(),
    "reduction": calls.reductions(),
    "axis": calls.along_one_axis(),
    "normalization": calls.normalizations(),
    "join": calls.joins(),
    "cut": calls.cuts(),
    "move": calls.moves(),
    "lookup": calls.lookups(),
    "product": calls.products(),
    "convolution": images.convolutions(),
    "transposed_convolution": images.transposed_convolutions(),
    "pool": images.pools(outside=True),
    "resize": images.resizes(),
    "block": images.blocks(),
    "image_normalization": images.image_normalizations(),
    "recurrence": sequences.recurrences(),
    "creation": sequences.creations(),
    "detection": sequences.detections(),
    "region": regions.regions(),
    "prior": regions.priors(),
    "detector_output": regions.detector_outputs(),
}


@pytest.mark.parametrize("family", STRATEGIES)
def test_family(family: str) -> None:
    @BOUNDED
    @given(STRATEGIES[family])
    def run(call: calls.Call) -> None:
        check(call)

    run()


def test_the_draws_reach_the_edges() -> None:
    """Sizes 0 and 1, scalars, rank 5, negative axes and every kind of window do occur."""
    seen: set[str] = set()

    @BOUNDED
    @given(calls.binary(), calls.reductions(), images.convolutions())
    def look(pair: calls.Call, reduced: calls.Call, image: calls.Call) -> None:
        seen.update(f"rank {array.ndim}" for array in pair.inputs)
        seen.update(f"size {size}" for array in pair.inputs for size in array.shape)
        seen.update("negative axis" for array in reduced.inputs[1:] for axis in array if axis < 0)
        seen.add(f"group {'one' if image.op.group == 1 else 'many'}")  # type: ignore[attr-defined]
        seen.add(f"batch {image.inputs[0].shape[0]}")

    look()
    edges = {"rank 0", "rank 5", "size 0", "size 1", "negative axis", "group one", "group many", "batch 0"}
    assert edges <= seen


def test_a_wrong_kernel_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    call = calls.Call(calls.OPERATORS["Abs"](), (np.array([-1.0, 2.0], np.float32),))
    check(call)
    monkeypatch.setitem(REFERENCES, "Abs", lambda op, inputs: [inputs[0] * np.float32(1.001)])
    with pytest.raises(AssertionError, match="error"):
        check(call)
