"""The enums of the `.ms` format. Numbers are MindSpore Lite's and never change.

Only the standard library is imported: the C++ build runs the generator without installed packages.
"""

from __future__ import annotations

from enum import IntEnum


class DataType(IntEnum):
    """Element type of a tensor (MindSpore's TypeId numbers)."""

    UNKNOWN = 0
    STRING = 12
    LIST = 13
    TUPLE = 14
    TENSOR_LIST = 17
    BOOL = 30
    INT = 31
    INT8 = 32
    INT16 = 33
    INT32 = 34
    INT64 = 35
    UINT = 36
    UINT8 = 37
    UINT16 = 38
    UINT32 = 39
    UINT64 = 40
    FLOAT = 41
    FLOAT16 = 42
    FLOAT32 = 43
    FLOAT64 = 44
    BFLOAT16 = 45
    COMPLEX64 = 48
    COMPLEX128 = 49


class WireEnum(IntEnum):
    """An enum that the schema declares; `wire_type` is its FlatBuffers scalar."""

    @classmethod
    def wire_type(cls) -> str:
        return "int" if cls in _INT_ENUMS else "byte"


class ResizeMethod(WireEnum):
    """Interpolation of Resize."""

    UNKNOWN = -1
    LINEAR = 0
    NEAREST = 1
    CUBIC = 2


class CoordinateTransformMode(WireEnum):
    """How Resize maps an output coordinate to an input coordinate."""

    ASYMMETRIC = 0
    ALIGN_CORNERS = 1
    HALF_PIXEL = 2


class NearestMode(WireEnum):
    """Rounding of nearest-neighbor Resize."""

    NORMAL = 0
    ROUND_HALF_DOWN = 1
    ROUND_HALF_UP = 2
    FLOOR = 3
    CEIL = 4


class Format(WireEnum):
    """Layout of a tensor's dimensions."""

    NCHW = 0
    NHWC = 1
    NHWC4 = 2
    HWKC = 3
    HWCK = 4
    KCHW = 5
    CKHW = 6
    KHWC = 7
    CHWK = 8
    HW = 9
    HW4 = 10
    NC = 11
    NC4 = 12
    NC4HW4 = 13
    NUM_OF_FORMAT = 14
    NCDHW = 15
    NWC = 16
    NCW = 17
    NC8HW8 = 18


class ActivationType(WireEnum):
    """Function of Activation and of fused activations."""

    NO_ACTIVATION = 0
    RELU = 1
    SIGMOID = 2
    RELU6 = 3
    ELU = 4
    LEAKY_RELU = 5
    ABS = 6
    RELU1 = 7
    SOFTSIGN = 8
    SOFTPLUS = 9
    TANH = 10
    SELU = 11
    HSWISH = 12
    HSIGMOID = 13
    THRESHOLDRELU = 14
    LINEAR = 15
    HARD_TANH = 16
    SIGN = 17
    SWISH = 18
    GELU = 19
    FAST_GELU = 20
    UNKNOWN = 21


class ReduceMode(WireEnum):
    """Function of ReduceFusion and ReduceScatter."""

    ReduceMean = 0
    ReduceMax = 1
    ReduceMin = 2
    ReduceProd = 3
    ReduceSum = 4
    ReduceSumSquare = 5
    ReduceASum = 6
    ReduceAll = 7
    ReduceL2 = 8


class PoolMode(WireEnum):
    """Kind of pooling (historic)."""

    MAX_POOLING = 0
    MEAN_POOLING = 1


class EltwiseMode(WireEnum):
    """Function of Eltwise."""

    PROD = 0
    SUM = 1
    MAXIMUM = 2
    UNKNOWN = 3


class PadMode(WireEnum):
    """PAD has explicit paddings; SAME and VALID are TensorFlow's."""

    PAD = 0
    SAME = 1
    VALID = 2


class RoundMode(WireEnum):
    """Rounding of a pooling output size."""

    FLOOR = 0
    CEIL = 1


class PaddingMode(WireEnum):
    """Padding mode of PadFusion."""

    CONSTANT = 0
    REFLECT = 1
    SYMMETRIC = 2
    MODE_RESERVED = 3


class LshProjectionType(WireEnum):
    """Output form of LshProjection."""

    UNKNOWN = 0
    SPARSE = 1
    DENSE = 2


class Reduction(WireEnum):
    """How a loss is reduced."""

    REDUCTION_SUM = 0
    MEAN = 1
    NONE = 2


class WeightQuantCompressType(WireEnum):
    """Compression of `Tensor.data`."""

    NONE = 0
    INDEXING = 1
    SPARSE = 2
    FSE = 3
    BITPACKING = 4
    FSE_INT = 5
    FSE_INFER = 6


class QuantType(WireEnum):
    """Quantization type of a node; 1 to 3 are older numbers of 4 and 5."""

    QUANT_NONE = 0
    AwareTraining = 1
    WeightQuant = 2
    PostTraining = 3
    QUANT_WEIGHT = 4
    QUANT_ALL = 5
    QUANT_DYNAMIC = 6


_INT_ENUMS: frozenset[type[WireEnum]] = frozenset({Format, WeightQuantCompressType, QuantType})
