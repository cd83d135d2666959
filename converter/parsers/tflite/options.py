"""Option tables of the builtin operators: fields, slots and types of TensorFlow Lite's schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mslite.converter.mindir.flatbuffer import Table


@dataclass(frozen=True)
class Option:
    """One field of an option table. Lists have no default; they may be absent."""

    slot: int
    kind: str
    default: float = 0


def _fields(spec: str) -> dict[str, Option]:
    """Parses a specification: `name:type[=default]` for each slot; `-` skips a slot."""
    fields = {}
    for slot, word in enumerate(spec.split()):
        if word == "-":
            continue
        name, kind = word.split(":")
        kind, _, default = kind.partition("=")
        fields[name] = Option(slot, kind, float(default or 0) if kind == "float" else int(default or 0))
    return fields


_FUSED = _fields("activation:byte")
_POOL = _fields("padding:byte stride_w:int stride_h:int filter_w:int filter_h:int activation:byte")
_REDUCE = _fields("keep_dims:bool")
_VOLUME = _fields(
    "padding:byte stride_d:int stride_w:int stride_h:int activation:byte dilation_d:int=1 dilation_w:int=1"
    " dilation_h:int=1"
)
_RANDOM = _fields("seed:long seed2:long")
_SEQUENCE = _fields("time_major:bool activation:byte asymmetric_quantize_inputs:bool")

OPTIONS: dict[str, dict[str, Option]] = {
    "ADD": _FUSED,
    "ARG_MAX": _fields("output_type:byte"),
    "ARG_MIN": _fields("output_type:byte"),
    "AVERAGE_POOL_2D": _POOL,
    "BATCH_MATMUL": _fields("adj_x:bool adj_y:bool asymmetric_quantize_inputs:bool"),
    "BIDIRECTIONAL_SEQUENCE_RNN": _fields(
        "time_major:bool activation:byte merge_outputs:bool asymmetric_quantize_inputs:bool"
    ),
    "BIDIRECTIONAL_SEQUENCE_LSTM": _fields(
        "activation:byte cell_clip:float projection_clip:float merge_outputs:bool time_major:bool=1"
        " asymmetric_quantize_inputs:bool"
    ),
    "CALL_ONCE": _fields("subgraph:int"),
    "CONCATENATION": _fields("axis:int activation:byte"),
    "CONV_2D": _fields("padding:byte stride_w:int stride_h:int activation:byte dilation_w:int=1 dilation_h:int=1"),
    "CUMSUM": _fields("exclusive:bool reverse:bool"),
    "DEPTHWISE_CONV_2D": _fields(
        "padding:byte stride_w:int stride_h:int multiplier:int activation:byte dilation_w:int=1 dilation_h:int=1"
    ),
    "DEPTH_TO_SPACE": _fields("block_size:int"),
    "DIV": _FUSED,
    "FAKE_QUANT": _fields("min:float max:float num_bits:int narrow_range:bool"),
    "FULLY_CONNECTED": _fields(
        "activation:byte weights_format:byte keep_num_dims:bool asymmetric_quantize_inputs:bool"
    ),
    "GATHER": _fields("axis:int batch_dims:int"),
    "GELU": _fields("approximate:bool"),
    "IF": _fields("then_subgraph:int else_subgraph:int"),
    "L2_NORMALIZATION": _FUSED,
    "L2_POOL_2D": _POOL,
    "LEAKY_RELU": _fields("alpha:float"),
    "LOCAL_RESPONSE_NORMALIZATION": _fields("radius:int bias:float alpha:float beta:float"),
    "LSH_PROJECTION": _fields("type:byte"),
    "MAX_POOL_2D": _POOL,
    "MEAN": _REDUCE,
    "MIRROR_PAD": _fields("mode:byte"),
    "MUL": _FUSED,
    "ONE_HOT": _fields("axis:int"),
    "PACK": _fields("count:int axis:int"),
    "REDUCE_ALL": _REDUCE,
    "REDUCE_ANY": _REDUCE,
    "REDUCE_MAX": _REDUCE,
    "REDUCE_MIN": _REDUCE,
    "REDUCE_PROD": _REDUCE,
    "RESHAPE": _fields("new_shape:[int]"),
    "RESIZE_BILINEAR": _fields("- - align_corners:bool half_pixel:bool"),
    "RESIZE_NEAREST_NEIGHBOR": _fields("align_corners:bool half_pixel:bool"),
    "REVERSE_SEQUENCE": _fields("seq_dim:int batch_dim:int"),
    "SHAPE": _fields("output_type:byte"),
    "SOFTMAX": _fields("beta:float"),
    "SPACE_TO_DEPTH": _fields("block_size:int"),
    "SPLIT": _fields("count:int"),
    "SPLIT_V": _fields("count:int"),
    "SQUEEZE": _fields("dims:[int]"),
    "STRIDED_SLICE": _fields(
        "begin_mask:int end_mask:int ellipsis_mask:int new_axis_mask:int shrink_axis_mask:int offset:bool"
    ),
    "SUB": _FUSED,
    "SUM": _REDUCE,
    "TRANSPOSE_CONV": _fields("padding:byte stride_w:int stride_h:int activation:byte"),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _fields(
        "activation:byte cell_clip:float projection_clip:float time_major:bool asymmetric_quantize_inputs:bool diagonal:bool"
    ),
    "UNIDIRECTIONAL_SEQUENCE_RNN": _SEQUENCE,
    "UNIQUE": _fields("index_type:byte=2"),
    "UNPACK": _fields("count:int axis:int"),
    "WHILE": _fields("cond_subgraph:int body_subgraph:int"),
    "BUCKETIZE": _fields("boundaries:[float]"),
    "CALL": _fields("subgraph:uint"),
    "CONV_3D": _VOLUME,
    "CONV_3D_TRANSPOSE": _VOLUME,
    "EMBEDDING_LOOKUP_SPARSE": _fields("combiner:byte"),
    "LSTM": _fields(
        "activation:byte cell_clip:float projection_clip:float kernel_type:byte asymmetric_quantize_inputs:bool"
    ),
    "MULTINOMIAL": _RANDOM,
    "RANDOM_STANDARD_NORMAL": _RANDOM,
    "RANDOM_UNIFORM": _RANDOM,
    "RNN": _fields("activation:byte asymmetric_quantize_inputs:bool"),
    "REDUCE_WINDOW": _fields("function:int"),
    "SKIP_GRAM": _fields("ngram_size:int max_skip_size:int include_all_ngrams:bool"),
    "STABLEHLO_BROADCAST_IN_DIM": _fields("dimensions:[long]"),
    "STABLEHLO_COMPARE": _fields("direction:uint type:uint"),
    "STABLEHLO_COMPOSITE": _fields("name:string subgraph:int"),
    "STABLEHLO_CONCATENATE": _fields("dimension:long"),
    "STABLEHLO_DYNAMIC_SLICE": _fields("sizes:[long]"),
    "STABLEHLO_CONVOLUTION": _fields(
        "window_strides:[long] padding:[long] lhs_dilation:[long] rhs_dilation:[long] window_reversal:[bool]"
        " input_batch:long input_feature:long input_spatial:[long]"
        " kernel_input_feature:long kernel_output_feature:long kernel_spatial:[long]"
        " output_batch:long output_feature:long output_spatial:[long] feature_group_count:long batch_group_count:long"
    ),
    "STABLEHLO_CUSTOM_CALL": _fields("target:string"),
    "STABLEHLO_DOT_GENERAL": _fields(
        "lhs_batching:[long] rhs_batching:[long] lhs_contracting:[long] rhs_contracting:[long]"
    ),
    "STABLEHLO_GATHER": _fields(
        "offset_dims:[long] collapsed_slice_dims:[long] start_index_map:[long] vector_dimension:long slice_sizes:[long]"
    ),
    "STABLEHLO_IOTA": _fields("dimension:long"),
    "STABLEHLO_PAD": _fields("low:[long] high:[long] interior:[long]"),
    "STABLEHLO_REDUCE": _fields("dimensions:[long] body:int"),
    "STABLEHLO_REDUCE_WINDOW": _fields(
        "window:[long] strides:[long] base_dilations:[long] window_dilations:[long] padding:[long] body:int"
    ),
    "STABLEHLO_SCATTER": _fields(
        "- update_window_dims:[long] inserted_window_dims:[long] scatter_dims_to_operand_dims:[long]"
        " vector_dimension:long - body:int"
    ),
    "STABLEHLO_SLICE": _fields("start:[long] limit:[long] strides:[long]"),
    "STABLEHLO_SORT": _fields("dimension:long is_stable:bool comparator:int"),
    "STABLEHLO_TRANSPOSE": _fields("permutation:[long]"),
    "STABLEHLO_WHILE": _fields("cond_subgraph:int body_subgraph:int"),
    "SVDF": _fields("rank:int activation:byte asymmetric_quantize_inputs:bool"),
    "VAR_HANDLE": _fields("container:string shared_name:string"),
}
"""Operators that are not listed have no options, or only options that do not affect the result."""


class Options:
    """Options of one node. Absent fields, or an absent table, return defaults."""

    def __init__(self, operator: str, table: Table | None) -> None:
        self._fields = OPTIONS.get(operator, {})
        self._table = table

    def integer(self, name: str) -> int:
        field = self._fields[name]
        return int(field.default if self._table is None else self._table.scalar(field.slot, field.kind, field.default))

    def real(self, name: str) -> float:
        field = self._fields[name]
        return float(
            field.default if self._table is None else self._table.scalar(field.slot, field.kind, field.default)
        )

    def integers(self, name: str) -> tuple[int, ...] | None:
        numbers = self._numbers(name)
        return None if numbers is None else tuple(int(number) for number in numbers)

    def reals(self, name: str) -> tuple[float, ...] | None:
        numbers = self._numbers(name)
        return None if numbers is None else tuple(float(number) for number in numbers)

    def _numbers(self, name: str) -> tuple[int | float, ...] | None:
        field = self._fields[name]
        return None if self._table is None else self._table.numbers(field.slot, field.kind.strip("[]"))

    def text(self, name: str) -> str:
        return "" if self._table is None else self._table.text(self._fields[name].slot) or ""

    def all(self) -> dict[str, Any]:
        """Returns all options by name."""
        readers: dict[str, Callable[[str], Any]] = {"string": self.text, "float": self.real, "[float]": self.reals}
        found = {}
        for name, field in self._fields.items():
            reader = readers.get(field.kind, self.integers if field.kind.startswith("[") else self.integer)
            found[name] = bool(reader(name)) if field.kind == "bool" else reader(name)
        return found
