"""Programs for tests of the memory planner: sizes and lifetimes are realistic, kernels are not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from mslite.codegen.program import Band, Overlap, Program, RowWise, Step, Storage, Tensor
from mslite.converter.mindir.ops.enums import DataType


def tensor(name: str, *shape: int, storage: Storage = Storage.ACTIVATION) -> Tensor:
    """Size of an int8 tensor."""
    size = 1
    for count in shape:
        size *= count
    return Tensor(name, DataType.INT8, shape, storage, size)


def step(
    name: str,
    operator: str,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    workspace: int = 0,
    in_place: int = -1,
    overlaps: tuple[Overlap, ...] = (),
    rows: RowWise | None = None,
) -> Step:
    return Step(
        name=name,
        operator=operator,
        kernel="none",
        inputs=list(inputs),
        outputs=list(outputs),
        derived=b"",
        parts=(1,),
        shared_size=workspace,
        scratch_size=0,
        in_place=in_place,
        overlaps=overlaps,
        rows=rows,
    )


class Builder:
    """Layers on NHWC tensors with one image and SAME padding; `lead`: outputs may overlap inputs row by row."""

    def __init__(self, lead: bool = False) -> None:
        self.lead = lead
        self.steps: list[Step] = []

    def window(self, x: Tensor, channels: int, extent: int, stride: int, operator: str = "Conv2DFusion") -> Tensor:
        height, width = -(-x.shape[1] // stride), -(-x.shape[2] // stride)
        name = f"layer{len(self.steps)}"
        y = tensor(name, 1, height, width, channels)
        pad = max((height - 1) * stride + extent - x.shape[1], 0) // 2
        row_in, row_out = x.size // x.shape[1], y.size // height
        lead = max((row + 1) * row_out - max(0, row * stride - pad) * row_in for row in range(height))
        overlaps = (Overlap(0, lead),) if self.lead else ()
        self.steps.append(step(name, operator, [x], [y], overlaps=overlaps, rows=RowWise(extent, stride, pad)))
        return y

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        z = tensor(f"layer{len(self.steps)}", *x.shape)
        self.steps.append(step(z.name, "AddFusion", [x, y], [z], in_place=0, rows=RowWise(1, 1, 0, 0, (1,))))
        return z

    def dense(self, x: Tensor, count: int) -> Tensor:
        y = tensor(f"layer{len(self.steps)}", 1, count)
        self.steps.append(step(y.name, "FullConnection", [x], [y]))
        return y

    def program(self, x: Tensor, y: Tensor) -> Program:
        return Program("test", "cortex-m4", [x], [y], self.steps, cut)


def image(*shape: int) -> Tensor:
    return tensor("image", 1, *shape, storage=Storage.INPUT)


def resnet8(lead: bool = False) -> Program:
    """Three residual blocks on 32 x 32 images."""
    build = Builder(lead)
    given = image(32, 32, 3)
    x = build.window(given, 16, 3, 1)
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        y = build.window(build.window(x, channels, 3, stride), channels, 3, 1)
        x = build.add(x if stride == 1 else build.window(x, channels, 1, stride), y)
    pooled = tensor("pooled", 1, 1, 1, 64)
    build.steps.append(step("pool", "AvgPoolFusion", [x], [pooled]))
    return build.program(given, build.dense(pooled, 10))


def separable(side: int = 96, channels: int = 3, lead: bool = False) -> Program:
    """MobileNetV1 at a quarter of its width."""
    build = Builder(lead)
    given = image(side, side, channels)
    x = build.window(given, 8, 3, 2)
    for count, stride in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)):
        x = build.window(x, x.shape[3], 3, stride)
        x = build.window(x, count, 1, 1)
    pooled = tensor("pooled", 1, 1, 1, 256)
    build.steps.append(step("pool", "AvgPoolFusion", [x], [pooled]))
    return build.program(given, build.dense(pooled, 2))


def keywords(lead: bool = False) -> Program:
    """Four separable convolutions on 25 x 5 x 64."""
    build = Builder(lead)
    given = image(49, 10, 1)
    x = build.window(given, 64, 4, 2)
    for _ in range(4):
        x = build.window(build.window(x, 64, 3, 1), 64, 1, 1)
    pooled = tensor("pooled", 1, 1, 1, 64)
    build.steps.append(step("pool", "AvgPoolFusion", [x], [pooled]))
    return build.program(given, build.dense(pooled, 12))


def autoencoder() -> Program:
    """Fully connected layers 640-128-128-128-128-8-128-128-128-128-640."""
    build = Builder()
    given = x = tensor("given", 1, 640, storage=Storage.INPUT)
    for count in (128, 128, 128, 128, 8, 128, 128, 128, 128, 640):
        x = build.dense(x, count)
    return build.program(given, x)


def random_program(seed: int, count: int) -> Program:
    """A graph of `count` steps with branches, reshapes, concatenations, splits, workspaces and tensors that may share memory."""
    choose = random.Random(seed)
    given = [tensor(f"in{i}", 1, choose.randint(1, 6), 4, storage=Storage.INPUT) for i in range(choose.randint(1, 2))]
    known, steps = list(given), []
    for number in range(count):
        kind = choose.random()
        recent = known[-4:] if choose.random() < 0.8 else known
        name = f"step{number}"
        if kind < 0.15 and len(recent) > 1:
            pieces = choose.sample(recent, 2)
            outputs = [tensor(name, 1, sum(piece.shape[1] for piece in pieces), 4)]
            steps.append(step(name, "Concat", pieces, outputs))
        elif kind < 0.3 and (whole := choose.choice(recent)).shape[1] > 1:
            cut = choose.randint(1, whole.shape[1] - 1)
            outputs = [tensor(f"{name}a", 1, cut, 4), tensor(f"{name}b", 1, whole.shape[1] - cut, 4)]
            steps.append(step(name, "Split", [whole], outputs))
        elif kind < 0.4:
            source = choose.choice(recent)
            outputs = [tensor(name, *source.shape)]
            outputs[0].alias_of = source
        else:
            inputs = [choose.choice(recent) for _ in range(choose.randint(1, 2))]
            rows = inputs[0].shape[1] if choose.random() < 0.6 else choose.randint(1, 8)
            outputs = [tensor(name, 1, rows, 4)]
            same = rows == inputs[0].shape[1]
            overlaps = (Overlap(0, choose.randint(0, 12)),) if choose.random() < 0.5 else ()
            in_place = 0 if same and choose.random() < 0.5 else -1
            steps.append(step(name, "Any", inputs, outputs, choose.choice([0, 0, 8, 20]), in_place, overlaps))
        known += outputs
    read = {operand for one in steps for operand in one.inputs}
    ends = [one for one in known if one not in read and one not in given] or [known[-1]]
    return Program("random", "cortex-m4", given, choose.sample(ends, choose.randint(1, len(ends))), steps)


def cut(whole: Step, band: Band) -> Step | None:
    """Returns the steps that lowering creates for kernels that support any number of rows."""
    assert whole.rows is not None
    source, output = whole.inputs[whole.rows.input], whole.outputs[0]
    assert source is not None
    row_in, row_out = source.size // source.shape[1], output.size // output.shape[1]
    places = (whole.rows.input, *whole.rows.others)
    inputs = [
        tensor(operand.name, 1, band.rows_in, *operand.shape[2:])
        if operand is not None and place in places
        else operand
        for place, operand in enumerate(whole.inputs)
    ]
    lead = 0  # rows from `row * stride - pad_before` on are still read when `row` is written
    for row in range(band.rows_out):
        lead = max(lead, (row + 1) * row_out - max(0, row * whole.rows.stride - band.pad_before) * row_in)
    return replace(
        whole,
        inputs=inputs,
        outputs=[tensor(output.name, 1, band.rows_out, *output.shape[2:])],
        overlaps=(Overlap(0, lead),) if whole.overlaps else (),
    )
