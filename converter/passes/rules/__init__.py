"""The rewrite rules, in the groups that the pipeline runs. Fusions that MindSpore Lite also has are named as there."""

from __future__ import annotations

from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules import (
    activation_fusion,
    activation_patterns,
    cast,
    conv_bias,
    conv_pad,
    conv_scale,
    dilated_conv,
    flatten_matmul,
    group_norm,
    instance_norm,
    integer_scale,
    layer_norm,
    matmul_add,
    matmul_scale,
    norm_affine,
    norm_scale,
    prelu,
    rms_norm,
    row_update,
    transpose_rules,
    transposed_norm,
)

CHANNELS_FIRST: tuple[Rule, ...] = (group_norm.RULE, norm_affine.CHANNELS_FIRST)
"""Operators with channels as dimension 1, which must be matched before the layout pass."""

PATTERN_FUSIONS: tuple[Rule, ...] = (
    dilated_conv.RULE,
    transposed_norm.RULE,
    layer_norm.RULE,
    layer_norm.AFFINE,
    instance_norm.RULE,
    rms_norm.RULE,
    norm_affine.RULE,
    prelu.PRELU,
    prelu.LIMITS,
    activation_patterns.GELU,
    activation_patterns.GELU_TANH,
    activation_patterns.HARD_SWISH,
    activation_patterns.HARD_SIGMOID,
    activation_patterns.SWISH,
    activation_patterns.LOG_SIGMOID,
    row_update.RULE,
)
"""Operators that exporters write as several nodes. First, before other rules match parts of them."""

TRANSPOSE_RULES: tuple[Rule, ...] = (
    cast.RULE,
    transpose_rules.TRANSPOSE,
    transpose_rules.RESHAPE,
    flatten_matmul.RULE,
    transpose_rules.TRANSPOSE_MATMUL,
)
"""Operators that only move elements and cancel out, or can be folded into a matmul."""

FOLDS: tuple[Rule, ...] = (
    conv_pad.RULE,
    conv_scale.BATCH_NORM,
    conv_scale.SCALE,
    conv_bias.RULE,
    matmul_add.RULE,
    matmul_scale.RULE,
    norm_scale.BATCH_NORM,
    norm_scale.MUL_ADD,
    integer_scale.SCALE,
    integer_scale.BIAS,
)
"""Constants that are folded into weights and biases."""

ACTIVATION_FUSIONS: tuple[Rule, ...] = (
    activation_fusion.TRANSPOSED,
    activation_fusion.CONVOLUTION,
    activation_fusion.MATMUL,
    activation_fusion.SCALE,
    activation_fusion.ADD,
    activation_fusion.MULTIPLY,
)
"""Activations that are fused into their producer. Last: nothing else can be fused into a node with an activation."""

LEGACY_FUSION_NAMES = frozenset({"ConvAddFusion", "ConvAddActivationFusion"})
"""Fusions of earlier versions: convolution and residual add are now separate in the file, and the runtime fuses them
(plan/rewrite/residual_adds.h). The names are still accepted in fusion_blacklists."""

STORED: tuple[Rule, ...] = (conv_pad.STORED,)
"""Rules that are exact for quantized tensors."""

RULES: tuple[Rule, ...] = CHANNELS_FIRST + PATTERN_FUSIONS + TRANSPOSE_RULES + FOLDS + ACTIVATION_FUSIONS + STORED
