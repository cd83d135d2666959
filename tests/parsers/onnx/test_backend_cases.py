"""Some of the onnx package's own cases, for operators whose definition these cases are. The whole is backend_score.py."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

import pytest
from onnx.backend.test.case.node import collect_testcases

from .backend_cases import BackendCase, difference, from_test
from .helper import compute

NAMES = [
    "attention_3d_gqa_causal",
    "attention_4d_causal_fp16",
    "attention_4d_diff_heads_with_past_and_present_mask4d",
    "attention_4d_gqa_with_past_and_present",
    "attention_4d_with_qk_matmul_softmax",
    "attention_local_window_gqa_rank4_mask",
    "rotary_embedding",
    "rotary_embedding_interleaved",
    "rms_normalization_3d_axis1_epsilon",
    "tensorscatter_circular",
    "swish",
    "affine_grid_3d",
    "bitcast_float32_to_int32",
    "bitcast_bool_to_uint8",
    "center_crop_pad_crop_axes_hwc",
    "col2im_pads",
    "col2im_5d",
    "basic_deform_conv_with_padding",
    "deform_conv_with_mask_bias",
    "deform_conv_with_multiple_offset_groups",
    "det_nd",
    "convtranspose_3d",
    "maxpool_with_argmax_2d_precomputed_pads",
    "maxpool_2d_uint8",
    "maxunpool_export_with_output_shape",
    "dft",
    "dft_inverse",
    "dft_irfft",
    "dft_opset19",
    "stft",
    "stft_with_window",
    "melweightmatrix",
    "hannwindow",
    "hammingwindow_symmetric",
    "blackmanwindow",
    "nllloss_NCd1d2_with_weight_reduction_mean",
    "sce_mean_weight_ii_3d",
    "loop11",
    "scan9_sum",
    "scan9_multi_state",
    "linear_attention_gated_delta",
    "range_float_type_positive_delta_expanded",
    "split_to_sequence_2",
    "sequence_insert_at_front",
    "reversesequence_time",
    "reduce_l2_keep_dims_random",
]


@cache
def _cases() -> dict[str, BackendCase]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {test.name: test for test in collect_testcases(None)}
    cases = {name: from_test(found[f"test_{name}"]) for name in NAMES if f"test_{name}" in found}
    return {name: case for name, case in cases.items() if case is not None}


@pytest.mark.parametrize("name", NAMES)
def test_backend_case(name: str, tmp_path: Path) -> None:
    case = _cases().get(name)
    if case is None:
        pytest.skip("this version of the onnx package has no such case on plain tensors")
    assert difference(case, compute(case.model, case.inputs, tmp_path)) == ""
