"""Names of operator outputs; nodes in functions refer to outputs by name."""

from __future__ import annotations

from collections.abc import Mapping

from mslite.converter.parsers.protobuf import Message

_LSTM = ("i", "cs", "f", "o", "ci", "co", "h")
_BATCH_NORM = ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3")

_SEVERAL: dict[str, tuple[str, ...]] = {
    "BlockLSTM": _LSTM,
    "BlockLSTMV2": _LSTM,
    "CombinedNonMaxSuppression": ("nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"),
    "CudnnRNN": ("output", "output_h", "output_c", "reserve_space"),
    "CudnnRNNV2": ("output", "output_h", "output_c", "reserve_space", "host_reserved"),
    "CudnnRNNV3": ("output", "output_h", "output_c", "reserve_space", "host_reserved"),
    "FusedBatchNorm": _BATCH_NORM[:5],
    "FusedBatchNormV2": _BATCH_NORM[:5],
    "FusedBatchNormV3": _BATCH_NORM,
    "GRUBlockCell": ("r", "u", "c", "h"),
    "LSTMBlockCell": _LSTM,
    "ListDiff": ("out", "idx"),
    "MaxPoolWithArgmax": ("output", "argmax"),
    "Merge": ("output", "value_index"),
    "NonMaxSuppressionV4": ("selected_indices", "valid_outputs"),
    "NonMaxSuppressionV5": ("selected_indices", "selected_scores", "valid_outputs"),
    "QuantizeV2": ("output", "output_min", "output_max"),
    "RaggedRange": ("rt_nested_splits", "rt_dense_values"),
    "RefMerge": ("output", "value_index"),
    "RefSwitch": ("output_false", "output_true"),
    "SparseFillEmptyRows": ("output_indices", "output_values", "empty_row_indicator", "reverse_index_map"),
    "SparseReshape": ("output_indices", "output_shape"),
    "Switch": ("output_false", "output_true"),
    "TensorArrayV3": ("handle", "flow"),
    "TensorListConcat": ("tensor", "lengths"),
    "TensorListConcatV2": ("tensor", "lengths"),
    "TensorListPopBack": ("output_handle", "tensor"),
    "TopK": ("values", "indices"),
    "TopKV2": ("values", "indices"),
    "Unique": ("y", "idx"),
    "UniqueV2": ("y", "idx"),
    "UniqueWithCounts": ("y", "idx", "count"),
    "UniqueWithCountsV2": ("y", "idx", "count"),
}
"""Operators with several results of one tensor each. All other operators have one result, which may be a list."""


def output_offset(
    operator: str, result: str, attributes: Mapping[str, Message], signature: Message | None
) -> int | None:
    """Returns the index of the first tensor of a named result; None if the operator does not have it.

    `signature` is the OpDef of a function that is called by name.
    """
    if signature is not None:
        names = [argument.name for argument in signature.output_arg]
        return names.index(result) if result in names else None
    if operator in _SEVERAL:
        names_known = _SEVERAL[operator]
        return names_known.index(result) if result in names_known else None
    return 0
