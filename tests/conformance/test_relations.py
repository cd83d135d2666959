"""Each relation catches a file that breaks it, and not the one beside it."""

from __future__ import annotations

from typing import Any

import pytest

from mslite.converter.mindir.ops.enums import (
    ActivationType,
    CoordinateTransformMode,
    DataType,
    ReduceMode,
    RoundMode,
)
from mslite.converter.mindir.ops.tables import MetaGraph

from .files import fed, int8, ints, labels, model, record, stored, zeros
from .relations import RELATIONS
from .rules import operator_rules

CONV: dict[str, Any] = {"stride": (1, 1), "dilation": (1, 1), "pad_list": (0, 0, 0, 0), "kernel_size": (3, 3)}
POOL: dict[str, Any] = {"kernel_size": (2, 2), "strides": (2, 2), "pad": (0, 0, 0, 0)}
IMAGE = fed(1, 8, 8, 4)
PAIR = (fed(), fed())
BROKEN: dict[str, tuple[MetaGraph, MetaGraph]] = {
    "split_into_outputs": (
        model("Split", fed(4), output_num=3, outputs=PAIR),
        model("Split", fed(4), output_num=2, outputs=PAIR),
    ),
    "open_size_is_last": (
        model("Split", fed(4), output_num=2, size_splits=(-1, 1), outputs=PAIR),
        model("Split", fed(4), output_num=2, size_splits=(1, -1), outputs=PAIR),
    ),
    "split_evenly": (
        model("Split", fed(5), output_num=2, outputs=PAIR),
        model("Split", fed(4), output_num=2, outputs=PAIR),
    ),
    "bias_is_told": (
        model("FullConnection", fed(2, 3), zeros(4, 3), has_bias=True),
        model("FullConnection", fed(2, 3), zeros(4, 3)),
    ),
    "equal_batches": (model("MatMulFusion", fed(2, 3, 4), zeros(4, 5)), model("MatMulFusion", fed(3, 4), zeros(4, 5))),
    "equal_leading_dims": (
        model("MatMulFusion", fed(2, 3, 4), fed(1, 4, 5)),
        model("MatMulFusion", fed(2, 3, 4), fed(2, 4, 5)),
    ),
    "no_flat_images": (model("MatMulFusion", fed(3, 4, 1, 1), fed(3, 4, 1, 1)), model("MatMulFusion", fed(3, 4), fed(4, 1))),
    "window_of_weight": (
        model("Conv2DFusion", IMAGE, zeros(6, 3, 3, 4), **{**CONV, "kernel_size": (1, 3)}),
        model("Conv2DFusion", IMAGE, zeros(6, 3, 3, 4), **CONV),
    ),
    "one_group_or_depthwise": (
        model("Conv2dTransposeFusion", IMAGE, zeros(4, 3, 3, 2), **{**CONV, "group": 2}),
        model("Conv2dTransposeFusion", IMAGE, zeros(4, 3, 3, 1), **{**CONV, "group": 4}),
    ),
    "windows_touch_image": (
        model("AvgPoolFusion", fed(1, 7, 7, 4), **{**POOL, "pad": (1,) * 4}, round_mode=RoundMode.CEIL),
        model("AvgPoolFusion", fed(1, 7, 7, 4), **POOL, round_mode=RoundMode.CEIL),
    ),
    "counted_sizes": (
        model("Resize", IMAGE, stored([2.0, 2.0])),
        model("Resize", IMAGE, stored([1.0, 2.0, 2.0, 1.0])),
    ),
    "aligned_corners_differ": (
        model("Resize", IMAGE, new_height=1, new_width=8, coordinate_transform_mode=CoordinateTransformMode.ALIGN_CORNERS),
        model("Resize", IMAGE, new_height=2, new_width=8, coordinate_transform_mode=CoordinateTransformMode.ALIGN_CORNERS),
    ),
    "whole_permutation": (model("Transpose", fed(2, 3), ints(0, 2, 1)), model("Transpose", fed(2, 3), ints(1, 0))),
    "leading_axes": (
        model("SliceFusion", fed(2, 3), ints(0, 0), ints(1, 1), axes=(1, 0)),
        model("SliceFusion", fed(2, 3), ints(0, 0), ints(1, 1), axes=(0, 1)),
    ),
    "axes_ascend": (model("Unsqueeze", fed(2), axis=(-1, 0)), model("Unsqueeze", fed(2), axis=(0, -1))),
    "ends_within": (
        model("StridedSlice", fed(4), ints(0), ints(9), ints(1)),
        model("StridedSlice", fed(4), ints(0), ints(9), ints(1), end_mask=1),
    ),
    "forward_steps": (
        model("StridedSlice", fed(4), ints(3), ints(0), ints(-1)),
        model("StridedSlice", fed(4), ints(3), ints(0), ints(0), ints(-1)),
    ),
    "scale_covers_dims": (
        model("ScaleFusion", fed(2, 3, 4), zeros(3), axis=2),
        model("ScaleFusion", fed(2, 3, 4), zeros(3), axis=1),
    ),
    "slope_per_channel": (model("PReLUFusion", IMAGE, zeros(8, 8, 4)), model("PReLUFusion", IMAGE, zeros(4))),
    "exponent_fits": (model("PowFusion", fed(2, 3), zeros(3)), model("PowFusion", fed(2, 3), zeros(1))),
    "condition_fits": (
        model("Select", fed(2, 1, dtype=DataType.BOOL), fed(2, 3), fed(2, 3)),
        model("Select", fed(2, 3, dtype=DataType.BOOL), fed(2, 3), fed(2, 3)),
    ),
    "equal_shapes": (model("AddN", fed(2, 3), fed(1, 3)), model("AddN", fed(2, 3), fed(2, 3))),
    "one_side_is_one_number": (
        model("DivFusion", fed(2, dtype=DataType.INT32), ints(1, 2)),
        model("DivFusion", fed(2, dtype=DataType.INT32), ints(2)),
    ),
    "shape_has_data": (model("Reshape", fed(1), ints()), model("Reshape", fed(1), ints(1))),
    "last_axis": (
        model("TopKFusion", fed(2, 5), ints(1), axis=0, outputs=PAIR),
        model("TopKFusion", fed(2, 5), ints(1), axis=1, outputs=PAIR),
    ),
    "last_or_all_axes": (
        model("L2NormalizeFusion", fed(2, 5), axis=(0,), epsilon=1e-5),
        model("L2NormalizeFusion", fed(2, 5), axis=(0, 1), epsilon=1e-5),
    ),
    "some_dims_normalized": (
        model("LayerNormFusion", fed(2, 5), zeros(2, 5), zeros(2, 5)),
        model("LayerNormFusion", fed(2, 5), zeros(5), zeros(5), begin_norm_axis=1, begin_params_axis=1),
    ),
    "no_empty_parts": (model("Concat", fed(2, 5), zeros(0, 5)), model("Concat", fed(2, 5), zeros(1, 5))),
    "sigmoid_record": (
        model("Activation", int8(2), activation_type=ActivationType.SIGMOID, outputs=(int8(2),)),
        model(
            "Activation",
            int8(2),
            activation_type=ActivationType.SIGMOID,
            outputs=(fed(2, dtype=DataType.INT8, quantParams=[record(1 / 256, -128)]),),
        ),
    ),
    "same_quant_params": (
        model("PadFusion", int8(2), ints(1, 1), outputs=(fed(4, dtype=DataType.INT8, quantParams=[record(2.0)]),)),
        model("PadFusion", int8(2), ints(1, 1), outputs=(int8(4),)),
    ),
    "whole_target": (model("BroadcastTo", fed(2, 3), ints(2, -1)), model("BroadcastTo", fed(2, 1), ints(2, 4))),
    "reference_has_front": (
        model("Crop", fed(1, 3, 8, 8), fed(1, 1, 4, 4), axis=2, offsets=(0, 0)),
        model("Crop", fed(1, 3, 8, 8), fed(1, 3, 4, 4), axis=2, offsets=(0, 0)),
    ),
    "tile_of_hidden": (
        model("GRU", fed(5, 2, 3), zeros(1, 15, 3), zeros(1, 15, 5), zeros(1, 30), fed(1, 2, 5), outputs=PAIR),
        model("GRU", fed(5, 2, 3), zeros(1, 24, 3), zeros(1, 24, 8), zeros(1, 48), fed(1, 2, 8), outputs=PAIR),
    ),
    "one_class": (
        model("NonMaxSuppression", fed(1, 9, 4), fed(1, 3, 9)),
        model("NonMaxSuppression", fed(1, 9, 4), fed(1, 1, 9)),
    ),
    "mean_of_image": (
        model("ReduceFusion", int8(2, 3), ints(1), mode=ReduceMode.ReduceMean, outputs=(int8(2),)),
        model("ReduceFusion", int8(1, 3, 3, 5), ints(1, 2), mode=ReduceMode.ReduceMean, outputs=(int8(1, 1, 1, 5),)),
    ),
    "repeated_in_front": (
        model("AddFusion", int8(2, 3), int8(2, 1), outputs=(int8(2, 3),)),
        model("AddFusion", int8(2, 3), int8(3), outputs=(int8(2, 3),)),
    ),
    "one_shape_or_one_number": (
        model("Where", fed(2, 1, dtype=DataType.BOOL), fed(2, 3), fed(2, 3)),
        model("Where", fed(2, 3, dtype=DataType.BOOL), fed(2, 3), fed(1)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_relation_catches_its_violation(name: str) -> None:
    bad, good = BROKEN[name]
    assert f"relation name={name}" in labels(bad)
    assert f"relation name={name}" not in labels(good)


def test_every_relation_has_an_example_and_a_row() -> None:
    assert set(BROKEN) == set(RELATIONS)
    rows = [rule for rules in operator_rules().values() for rule in rules]
    assert {rule.arguments["name"] for rule in rows if rule.kind == "relation"} == set(RELATIONS)
