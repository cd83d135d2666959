"""Padding of stored integers goes into the convolution behind it, without changing a bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.mindir.graph import Module, Node, Value, constant
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.assembly import PadFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import DataType, Format, PadMode, QuantType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.passes.context import Context
from mslite.converter.passes.rule import apply_rules
from mslite.converter.passes.rules.conv_pad import STORED
from tests.passes.builder import Builder, operators

RECORD = QuantParam(scale=0.05, zeroPoint=-3)


def padded(
    pads: tuple[int, int, int, int], group: int = 1, *, pad_mode: PadMode = PadMode.VALID, own: tuple[int, ...] = (),
    border: int | None = None, after: QuantParam = RECORD, channels: tuple[int, int] = (0, 0),
) -> Module:  # fmt: skip
    """int8 [1, 7, 8, 4] → Pad (top, bottom, left, right) → 3 x 3 convolution of stride 2."""
    draw = np.random.default_rng(5)
    build = Builder()
    x = build.input(1, 7, 8, 4, dtype=np.int8)
    x.quant, x.format = (RECORD,), Format.NHWC
    top, bottom, left, right = pads
    height, width, depth = 7 + top + bottom, 8 + left + right, 4 + sum(channels)
    wide = Value("wide", DataType.INT8, (1, height, width, depth), quant=(after,))
    sizes = constant("sizes", np.array([[0, 0], [top, bottom], [left, right], channels], np.int32))
    operands = [x, sizes]
    if border is not None:
        operands.append(constant("border", np.array(border, np.int8)))
        operands[-1].quant = (RECORD,)
    build.graph.nodes.append(Node(PadFusion(), "pad", tuple(operands), (wide,), quant_type=QuantType.QUANT_ALL))
    out = depth if group > 1 else 6
    weight = constant("w", draw.integers(-127, 128, (out, 3, 3, depth // group)).astype(np.int8))
    weight.quant = tuple(QuantParam(scale=0.002 * (k + 1)) for k in range(out))
    bias = constant("b", draw.integers(-999, 999, out).astype(np.int32))
    bias.quant = tuple(QuantParam(scale=0.0001 * (k + 1)) for k in range(out))
    op = Conv2DFusion(
        kernel_size=(3, 3), stride=(2, 2), dilation=(1, 1), pad_mode=pad_mode, pad_list=own or None, group=group,
        in_channel=depth, out_channel=out,
    )  # fmt: skip
    more = (sum(own[:2]), sum(own[2:])) if own else (0, 0)
    shape = (1, (height + more[0] - 3) // 2 + 1, (width + more[1] - 3) // 2 + 1, out)
    y = Value("y", DataType.INT8, shape, quant=(QuantParam(scale=0.3, zeroPoint=4),))
    build.graph.nodes.append(Node(op, "conv", (wide, weight, bias), (y,), quant_type=QuantType.QUANT_ALL))
    return build.module(y)


def outputs(module: Module, folder: Path, name: str) -> np.ndarray:
    model = mslite.Model()
    model.build_from_file(str(save(module, folder / f"{name}.ms")[0]), mslite.ModelType.MINDIR_LITE)
    x = model.get_inputs()[0]
    x.set_data_from_numpy(np.random.default_rng(9).integers(-128, 128, (1, 7, 8, 4)).astype(np.int8))
    return np.array(model.predict([x])[0].get_data_to_numpy())


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"group": 4},
        {"border": -3},
        {"pad_mode": PadMode.PAD, "own": (1, 0, 0, 2)},
    ],
    ids=["convolution", "depthwise", "border", "padded twice"],
)
@pytest.mark.parametrize("pads", [(0, 1, 0, 1), (1, 1, 1, 1), (2, 0, 1, 3)])
def test_every_bit_stays(tmp_path: Path, pads: tuple[int, int, int, int], more: dict[str, object]) -> None:
    module = padded(pads, **more)  # type: ignore[arg-type]
    wanted = outputs(padded(pads, **more), tmp_path, "before")  # type: ignore[arg-type]
    context = Context()
    apply_rules([STORED], module, context)
    assert operators(module) == ["Conv2DFusion"]
    assert context.applied == {"StoredConvPadFusion": 1}
    assert len(np.unique(wanted)) > 20
    assert np.array_equal(outputs(module, tmp_path, "after"), wanted)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"border": 0}, "the padding value is not zero"),
        ({"after": QuantParam(scale=0.05, zeroPoint=-2)}, "other quantization parameters"),
        ({"channels": (1, 0)}, "channels are padded"),
        ({"pad_mode": PadMode.SAME}, "computes its own padding"),
    ],
)
def test_what_would_change_bits_is_refused(more: dict[str, object], reason: str) -> None:
    module, context = padded((0, 1, 0, 1), **more), Context()  # type: ignore[arg-type]
    apply_rules([STORED], module, context)
    assert operators(module) == ["PadFusion", "Conv2DFusion"]
    assert any(reason in str(refusal) for refusal in context.refusals)
