"""The element types for which the CPU runtime of each version registers kernels.

The float16 kernels of 64-bit Arm are not included: unless they are enabled, float16 runs as float32.
"""

from __future__ import annotations

from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.ops.enums import DataType

_TABLE = """\
Abs                   | float32 int8                        | float32 int8                        | float32 int8 int32                                | float32 int8 int32
Activation            | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
AddFusion             | float32 int8 int32 bool             | float32 int8 int32 bool             | float32 int8 int32 bool                           | float32 int8 int32 bool
AddN                  | float32                             | float32                             | float32                                           | float32
AdderFusion           | float32                             | float32                             | -                                                 | -
Affine                | float32                             | float32                             | float32                                           | float32
AllGather             | -                                   | -                                   | float32                                           | float32
ArgMaxFusion          | float32 int8                        | float32 int8                        | float32 int8 int32                                | float32 int8 int32
ArgMinFusion          | float32 int8                        | float32 int8                        | float32 int8 int32                                | float32 int8 int32
Assert                | float32 bool                        | float32 bool                        | float32 bool                                      | float32 bool
AvgPoolFusion         | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
BatchNorm             | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
BatchToSpace          | float32 int8                        | float32 int8                        | int8                                              | int8
BatchToSpaceND        | float32 int8                        | float32 int8                        | int8                                              | int8
BiasAdd               | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
BroadcastTo           | float32                             | float32 int32                       | float32 int32 bool uint8                          | float32 int32 bool uint8
Call                  | float32 int32 bool                  | float32 int32 bool                  | float32 int32 bool                                | float32 int32 bool
Cast                  | float32 int8 int32 bool int64 uint8 | float32 int8 int32 bool int64 uint8 | float32 int8 int32 bool int64 uint8               | float32 int8 int32 bool int64 uint8
Ceil                  | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
Clip                  | -                                   | -                                   | float32 int32                                     | float32 int32
Concat                | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32 bool                           | float32 int8 int32 bool
ConstantOfShape       | float32 int32 int64                 | float32 int32 int64                 | float32 int32 bool int64                          | float32 int32 bool int64
Conv2DFusion          | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
Conv2dTransposeFusion | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
Cos                   | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
Crop                  | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32                                | float32 int8 int32
CropAndResize         | float32                             | float32                             | float32                                           | float32
CumSum                | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
CustomExtractFeatures | float32                             | float32                             | string                                            | string
CustomNormalize       | float32                             | float32                             | string                                            | string
CustomPredict         | int32                               | int32                               | int32                                             | int32
DepthToSpace          | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
DetectionPostProcess  | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
DivFusion             | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32                                | float32 int8 int32
DynamicQuant          | -                                   | -                                   | -                                                 | float32
Eltwise               | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
Elu                   | float32                             | -                                   | -                                                 | -
EmbeddingLookupFusion | float32                             | float32                             | float32                                           | float32
Equal                 | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32                                | float32 int8 int32
Erf                   | float32                             | float32                             | float32                                           | float32
ExpFusion             | float32                             | float32                             | float32                                           | float32
ExpandDims            | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32 bool                           | float32 int8 int32 bool
Fill                  | float32 int32                       | float32 int32                       | float32 int32 bool                                | float32 int32 bool
Flatten               | float32                             | float32                             | float32 int32                                     | float32 int32
FlattenGrad           | float32                             | float32                             | -                                                 | -
Floor                 | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
FloorDiv              | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
FloorMod              | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
FormatTranspose       | -                                   | -                                   | -                                                 | float32
FullConnection        | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
FusedBatchNorm        | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
GLU                   | float32                             | float32                             | float32                                           | float32
GRU                   | float32                             | float32                             | float32                                           | float32
Gather                | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32 bool                           | float32 int8 int32 bool
GatherD               | -                                   | -                                   | float32 int32                                     | float32 int32
GatherNd              | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32 bool                           | float32 int8 int32 bool
Greater               | float32 int8                        | float32 int8 int32                  | float32 int8 int32                                | float32 int8 int32
GreaterEqual          | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32                                | float32 int8 int32
GroupNormFusion       | -                                   | -                                   | -                                                 | float32
HashtableLookup       | int32                               | int32                               | int32                                             | int32
InstanceNorm          | float32                             | float32                             | float32                                           | float32
InvertPermutation     | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
IsFinite              | -                                   | -                                   | float32                                           | float32
L2NormalizeFusion     | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
LRN                   | float32                             | float32                             | float32                                           | float32
LSTM                  | float32                             | float32                             | float32                                           | float32
LayerNormFusion       | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
LeakyRelu             | int8                                | int8                                | int8                                              | int8
Less                  | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32                                | float32 int8 int32
LessEqual             | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32                                | float32 int8 int32
Log                   | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
Log1p                 | -                                   | -                                   | float32                                           | float32
LogSoftmax            | float32                             | float32                             | float32                                           | float32
LogicalAnd            | float32 int32 bool                  | float32 int32 bool                  | float32 int32 bool                                | float32 int32 bool
LogicalNot            | float32 int8 bool                   | float32 int8 bool                   | float32 int8 bool                                 | float32 int8 bool
LogicalOr             | float32 bool                        | float32 bool                        | float32 bool                                      | float32 bool
LshProjection         | float32                             | float32                             | float32                                           | float32
MatMulFusion          | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
MaxPoolFusion         | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
Maximum               | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
Minimum               | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
Mod                   | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
MulFusion             | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32                                | float32 int8 int32
Neg                   | float32                             | float32                             | float32 int32                                     | float32 int32
NonMaxSuppression     | float32                             | float32                             | float32                                           | float32
NonZero               | bool                                | bool                                | bool                                              | bool
NotEqual              | float32 int8                        | float32 int8 int32                  | float32 int8 int32 int64                          | float32 int8 int32 int64
OneHot                | int32                               | int32                               | int32                                             | int32
PReLUFusion           | float32                             | float32                             | float32                                           | float32
PadFusion             | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
PartialFusion         | float32 int32 bool                  | float32 int32 bool                  | float32 int32 bool                                | float32 int32 bool
PowFusion             | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
PriorBox              | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
QuantDTypeCast        | float32 int8 uint8                  | float32 int8 uint8                  | float32 int8 uint8                                | float32 int8 uint8
ROIPooling            | float32                             | float32                             | float32                                           | float32
RaggedRange           | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
RandomNormal          | -                                   | -                                   | float32                                           | float32
RandomStandardNormal  | int32                               | int32                               | float32                                           | float32
Range                 | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
Rank                  | float32                             | float32                             | float32                                           | float32
RealDiv               | float32                             | float32                             | float32                                           | float32
Reciprocal            | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
ReduceFusion          | float32 int8 int32 bool             | float32 int8 int32 bool             | float32 int8 int32 bool                           | float32 int8 int32 bool
ReduceScatter         | -                                   | -                                   | float32                                           | float32
Reshape               | float32 int8 int32 bool             | float32 int8 int32 bool             | float32 int8 int32 bool                           | float32 int8 int32 bool
Resize                | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
ReverseSequence       | float32                             | float32                             | float32                                           | float32
ReverseV2             | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
Round                 | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
Rsqrt                 | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
ScaleFusion           | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
ScatterNd             | float32                             | float32                             | int32                                             | int32
ScatterNdUpdate       | -                                   | float32                             | float32 int32                                     | float32 int32
Select                | bool                                | bool                                | bool                                              | bool
Shape                 | float32 int8 int32                  | float32 int8 int32 int64            | float32 int8 int32 bool int64 uint8               | float32 int8 int32 bool int64 uint8
Sin                   | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
Size                  | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
SkipGram              | float32                             | float32                             | string                                            | string
SliceFusion           | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32                                | float32 int8 int32
Softmax               | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
SpaceToBatch          | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
SpaceToBatchND        | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
SpaceToDepth          | float32                             | float32                             | float32                                           | float32
SparseFillEmptyRows   | -                                   | -                                   | float32 int32                                     | float32 int32
SparseReshape         | -                                   | -                                   | int32                                             | int32
SparseSegmentSum      | -                                   | -                                   | float32 int32                                     | float32 int32
SparseToDense         | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
Splice                | float32                             | float32                             | float32                                           | float32
Split                 | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32 int64                          | float32 int8 int32 int64
SplitWithOverlap      | float32                             | float32                             | float32                                           | float32
Sqrt                  | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
Square                | float32 int8                        | float32 int8                        | float32 int8                                      | float32 int8
SquaredDifference     | float32                             | float32                             | float32                                           | float32
Squeeze               | float32 int8 int32 bool             | float32 int8 int32 bool             | float32 int8 int32 bool                           | float32 int8 int32 bool
Stack                 | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
StridedSlice          | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32 bool int64                     | float32 int8 int32 bool int64
SubFusion             | float32 int8 int32                  | float32 int8 int32                  | float32 int8 int32                                | float32 int8 int32
Switch                | float32 int32 bool                  | float32 int32 bool                  | float32 int32 bool                                | float32 int32 bool
SwitchLayer           | -                                   | -                                   | float32 int32 bool                                | float32 int32 bool
TensorArray           | int32                               | int32                               | -                                                 | -
TensorArrayRead       | float32                             | float32                             | -                                                 | -
TensorArrayWrite      | float32                             | float32                             | -                                                 | -
TensorListFromTensor  | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
TensorListGetItem     | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
TensorListReserve     | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
TensorListSetItem     | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
TensorListStack       | float32 int32                       | float32 int32                       | float32 int32                                     | float32 int32
TensorScatterAdd      | -                                   | -                                   | float32 int32                                     | float32 int32
TileFusion            | float32 int32                       | float32 int32                       | float32 int32 bool uint8                          | float32 int32 bool uint8
TopKFusion            | float32 int8                        | float32 int8                        | float32 int8 int32                                | float32 int8 int32
Transpose             | float32 int8 int32                  | float32 int8 int32 bool             | float32 int8 int32 bool uint8                     | float32 int8 int32 bool uint8
Tril                  | -                                   | -                                   | float32 int8 int32 bool int64 uint8 float64 int16 | float32 int8 int32 bool int64 uint8 float64 int16
Triu                  | -                                   | -                                   | float32 int8 int32 bool int64 uint8 float64 int16 | float32 int8 int32 bool int64 uint8 float64 int16
UniformReal           | int32                               | int32                               | int32                                             | int32
Unique                | float32                             | float32                             | float32 int32                                     | float32 int32
Unsqueeze             | float32 int8 int32 int64            | float32 int8 int32 int64            | float32 int8 int32 bool int64                     | float32 int8 int32 bool int64
Unstack               | float32                             | float32                             | float32 int32                                     | float32 int32
Where                 | float32 int32 bool                  | float32 int32 bool                  | -                                                 | -
ZerosLike             | float32                             | float32                             | -                                                 | -
"""
"""Operator | 1.3 | 1.5 | 2.0 | 2.7"""


def _parse(column: int) -> dict[str, frozenset[DataType]]:
    found = {}
    for line in _TABLE.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if cells[column] != "-":
            found[cells[0]] = frozenset(DataType[word.upper()] for word in cells[column].split())
    return found


KERNEL_TYPES = {version: _parse(column) for column, version in enumerate(Version, start=1)}
"""Version -> operator -> element types; `check.kernel_type` returns the type that applies to a node."""
