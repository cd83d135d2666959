"""Second moments of the inputs of convolutions and matmuls: H = mean of x xT over the rows that the weights multiply.

The output error of changed weights, |(w' - w) x|^2, is (w' - w) H (w' - w)T, so the samples are not needed again.
Memory: one H of (taps * channels)^2 float32 values per group and node, at most BUDGET_BYTES at once (or the
largest one), and the windows of one part of a sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array, Module, Node
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.reference.convolution import padded, resolved_pads, windows
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.transforms.blocks import Floats, Layout, layout_of

BUDGET_BYTES = 512 << 20
MAX_WINDOWS = 2048
"""Largest number of windows of a convolution per image, evenly spaced."""
_PART = 1 << 22
"""Number of elements of windows that are processed at once."""


def rows(node: Node, layout: Layout, x: Array) -> Iterator[Floats]:
    """Yields the rows that the weights multiply, [groups, rows, taps * channels], in parts."""
    if not isinstance(node.op, Conv2DFusion):
        matrix = np.asarray(x, np.float32).reshape(1, -1, layout.channels)
        step = max(_PART // layout.channels, 1)
        for begin in range(0, matrix.shape[1], step):
            yield matrix[:, begin : begin + step]
        return
    kernel = (layout.shape[1], layout.shape[2])
    pads = resolved_pads(node.op, (x.shape[1], x.shape[2]), kernel)
    view = windows(padded(x, pads), kernel, node.op.stride or (1, 1), node.op.dilation or (1, 1))
    count, width = view.shape[1] * view.shape[2], view.shape[2]
    chosen = np.arange(0, count, max(-(-count // MAX_WINDOWS), 1))
    step = max(_PART // (layout.taps * layout.all_channels), 1)
    for image in view:
        for begin in range(0, chosen.size, step):
            places = chosen[begin : begin + step]
            split = image[places // width, places % width].reshape(-1, layout.taps, layout.groups, layout.channels)
            joined = split.transpose(2, 0, 1, 3).reshape(layout.groups, len(places), -1)
            yield np.asarray(joined, np.float32)


def gram_bytes(layout: Layout) -> int:
    """Returns the bytes of H for a layout."""
    return 4 * layout.groups * (layout.taps * layout.channels) ** 2


class Gram:
    """H of one convolution or matmul, [groups, k, k], as a running mean."""

    def __init__(self, layout: Layout) -> None:
        size = layout.taps * layout.channels
        self.taps = layout.taps
        self._sums: Floats = np.zeros((layout.groups, size, size), np.float32)
        self._magnitudes = np.zeros((layout.groups, size))
        self._count = 0

    def update(self, part: Floats) -> None:
        """Adds rows [groups, rows, k]. The running mean avoids an overflow of float32."""
        count = part.shape[1]
        if not count:
            return
        total = self._count + count
        self._sums *= self._count / total
        self._sums += np.matmul(part.transpose(0, 2, 1), part) / np.float32(total)
        self._magnitudes += np.abs(part).sum(axis=1, dtype=np.float64)
        self._count = total

    @property
    def moments(self) -> Floats:
        """H; zeros before the first row."""
        return self._sums

    @property
    def magnitudes(self) -> npt.NDArray[np.float64]:
        """The mean |x| of each element, [groups, k]."""
        return self._magnitudes / max(self._count, 1)


def grams(module: Module, nodes: Sequence[Node], data: CalibrationData) -> Iterator[tuple[Node, Gram]]:
    """Yields the nodes with their H. All samples are run once for each group of nodes whose H fit into BUDGET_BYTES.

    Raises ConversionError if the model does not run on a sample.
    """
    for part in _parts(nodes):
        runner = Runner(module, list({id(node.inputs[0]): node.inputs[0] for node in part}.values()))
        found = {id(node): Gram(_layout(node)) for node in part}
        for number, sample in enumerate(data):
            try:
                for value, array in runner.run(sample):
                    for node in part:
                        if node.inputs[0] is value:
                            for piece in rows(node, _layout(node), array):
                                found[id(node)].update(piece)
            except RuntimeError as error:
                raise ConversionError(
                    f"the model does not run on calibration sample {number}: {error}",
                    code=ReturnCode.INPUT_PARAMETER_INVALID,
                ) from None
        for node in part:
            yield node, found.pop(id(node))


def _layout(node: Node) -> Layout:
    layout = layout_of(node)
    assert layout is not None
    return layout


def _parts(nodes: Sequence[Node]) -> Iterator[list[Node]]:
    part: list[Node] = []
    size = 0
    for node in nodes:
        needed = gram_bytes(_layout(node))
        if part and size + needed > BUDGET_BYTES:
            yield part
            part, size = [], 0
        part.append(node)
        size += needed
    if part:
        yield part
