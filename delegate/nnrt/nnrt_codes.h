// The constants of OpenHarmony's Neural Network Runtime, from its public header neural_network_runtime_type.h.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_CODES_H
#define MSLITE_DELEGATE_NNRT_NNRT_CODES_H

#include <cstdint>

namespace mslite {
// CALL(name, value) for each operation that the backend writes.
#define MSLITE_NNRT_OPERATIONS(CALL) \
  CALL(ADD, 1)                       \
  CALL(AVG_POOL, 2)                  \
  CALL(CONCAT, 7)                    \
  CALL(CONV2D, 8)                    \
  CALL(DEPTHWISE_CONV2D_NATIVE, 10)  \
  CALL(DIV, 11)                      \
  CALL(GATHER, 16)                   \
  CALL(HSWISH, 17)                   \
  CALL(LESS_EQUAL, 18)               \
  CALL(MATMUL, 19)                   \
  CALL(MAXIMUM, 20)                  \
  CALL(MAX_POOL, 21)                 \
  CALL(MUL, 22)                      \
  CALL(PAD, 24)                      \
  CALL(POW, 25)                      \
  CALL(SIGMOID, 28)                  \
  CALL(SOFTMAX, 30)                  \
  CALL(SPLIT, 32)                    \
  CALL(SQRT, 33)                     \
  CALL(SQUARED_DIFFERENCE, 34)       \
  CALL(STACK, 36)                    \
  CALL(STRIDED_SLICE, 37)            \
  CALL(SUB, 38)                      \
  CALL(TANH, 39)                     \
  CALL(TILE, 40)                     \
  CALL(TRANSPOSE, 41)                \
  CALL(REDUCE_MEAN, 42)              \
  CALL(RESIZE_BILINEAR, 43)          \
  CALL(RSQRT, 44)                    \
  CALL(RESHAPE, 45)                  \
  CALL(PRELU, 46)                    \
  CALL(RELU, 47)                     \
  CALL(RELU6, 48)                    \
  CALL(LAYER_NORM, 49)               \
  CALL(REDUCE_PROD, 50)              \
  CALL(ARG_MAX, 54)                  \
  CALL(GELU, 56)                     \
  CALL(UNSTACK, 57)                  \
  CALL(ABS, 58)                      \
  CALL(ERF, 59)                      \
  CALL(EXP, 60)                      \
  CALL(LESS, 61)                     \
  CALL(SQUARE, 63)                   \
  CALL(EQUAL, 70)                    \
  CALL(GREATER, 71)                  \
  CALL(NOT_EQUAL, 72)                \
  CALL(GREATER_EQUAL, 73)            \
  CALL(LEAKY_RELU, 74)               \
  CALL(CLIP, 76)                     \
  CALL(COS, 79)                      \
  CALL(LOG, 80)                      \
  CALL(LOGICAL_AND, 81)              \
  CALL(LOGICAL_NOT, 82)              \
  CALL(NEG, 84)                      \
  CALL(RECIPROCAL, 85)               \
  CALL(SIN, 86)                      \
  CALL(LOGICAL_OR, 89)               \
  CALL(CEIL, 90)                     \
  CALL(FLOOR, 93)                    \
  CALL(LOG_SOFTMAX, 95)              \
  CALL(MINIMUM, 97)                  \
  CALL(REDUCE_MAX, 99)               \
  CALL(REDUCE_MIN, 100)              \
  CALL(REDUCE_SUM, 101)              \
  CALL(SPACE_TO_DEPTH, 104)          \
  CALL(SWISH, 105)

enum NnrtCode : int32_t {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names and types cannot be
#define MSLITE_NNRT_CODE(name, number) NNRT_##name = number,
  MSLITE_NNRT_OPERATIONS(MSLITE_NNRT_CODE)
#undef MSLITE_NNRT_CODE
};

enum NnrtType : int32_t {
  NNRT_BOOL = 1,
  NNRT_INT8 = 2,
  NNRT_INT32 = 4,
  NNRT_INT64 = 5,
  NNRT_FLOAT32 = 11,
};

// The role of a tensor in an operation: an input, or the attribute with this name.
enum NnrtRole : int32_t {
  NNRT_TENSOR = 0,
  NNRT_ADD_ACTIVATION = 1,
  NNRT_AVG_POOL_KERNEL_SIZE = 2,
  NNRT_AVG_POOL_STRIDE = 3,
  NNRT_AVG_POOL_PAD = 5,
  NNRT_AVG_POOL_ACTIVATION = 6,
  NNRT_CONCAT_AXIS = 10,
  NNRT_CONV2D_STRIDES = 11,
  NNRT_CONV2D_PAD = 12,
  NNRT_CONV2D_DILATION = 13,
  NNRT_CONV2D_ACTIVATION = 15,
  NNRT_CONV2D_GROUP = 16,
  NNRT_DEPTHWISE_STRIDES = 24,
  NNRT_DEPTHWISE_PAD = 25,
  NNRT_DEPTHWISE_DILATION = 26,
  NNRT_DEPTHWISE_ACTIVATION = 28,
  NNRT_DIV_ACTIVATION = 29,
  NNRT_MATMUL_TRANSPOSE_A = 33,
  NNRT_MATMUL_TRANSPOSE_B = 34,
  NNRT_MATMUL_ACTIVATION = 35,
  NNRT_MAX_POOL_KERNEL_SIZE = 36,
  NNRT_MAX_POOL_STRIDE = 37,
  NNRT_MAX_POOL_PAD = 39,
  NNRT_MAX_POOL_ACTIVATION = 40,
  NNRT_MUL_ACTIVATION = 41,
  NNRT_PAD_CONSTANT_VALUE = 43,
  NNRT_SOFTMAX_AXIS = 46,
  NNRT_SPLIT_AXIS = 49,
  NNRT_SPLIT_OUTPUT_NUM = 50,
  NNRT_SPLIT_SIZE_SPLITS = 51,
  NNRT_STACK_AXIS = 53,
  NNRT_STRIDED_SLICE_BEGIN_MASK = 54,
  NNRT_STRIDED_SLICE_END_MASK = 55,
  NNRT_STRIDED_SLICE_ELLIPSIS_MASK = 56,
  NNRT_STRIDED_SLICE_NEW_AXIS_MASK = 57,
  NNRT_STRIDED_SLICE_SHRINK_AXIS_MASK = 58,
  NNRT_SUB_ACTIVATION = 59,
  NNRT_REDUCE_MEAN_KEEP_DIMS = 60,
  NNRT_RESIZE_BILINEAR_NEW_HEIGHT = 61,
  NNRT_RESIZE_BILINEAR_NEW_WIDTH = 62,
  NNRT_RESIZE_BILINEAR_COORDINATES = 64,
  NNRT_LAYER_NORM_BEGIN_NORM_AXIS = 66,
  NNRT_LAYER_NORM_EPSILON = 67,
  NNRT_LAYER_NORM_BEGIN_PARAM_AXIS = 68,
  NNRT_REDUCE_PROD_KEEP_DIMS = 70,
  NNRT_ARG_MAX_AXIS = 75,
  NNRT_ARG_MAX_KEEP_DIMS = 76,
  NNRT_UNSTACK_AXIS = 78,
  NNRT_EXP_BASE = 89,
  NNRT_EXP_SCALE = 90,
  NNRT_EXP_SHIFT = 91,
  NNRT_LEAKY_RELU_NEGATIVE_SLOPE = 92,
  NNRT_CLIP_MAX = 103,
  NNRT_CLIP_MIN = 104,
  NNRT_POW_SCALE = 107,
  NNRT_POW_SHIFT = 108,
  NNRT_GELU_APPROXIMATE = 113,
  NNRT_TILE_DIMS = 128,
  NNRT_LOG_SOFTMAX_AXIS = 144,
  NNRT_SPACE_TO_DEPTH_BLOCK_SIZE = 150,
  NNRT_REDUCE_MAX_KEEP_DIMS = 151,
  NNRT_REDUCE_MIN_KEEP_DIMS = 154,
  NNRT_REDUCE_SUM_KEEP_DIMS = 157,
};

// The fused activation of an operation.
enum NnrtFuse : int8_t { NNRT_FUSED_NONE = 0, NNRT_FUSED_RELU = 1, NNRT_FUSED_RELU6 = 2 };

enum NnrtFormat : int32_t { NNRT_FORMAT_NHWC = 2, NNRT_FORMAT_ND = 3 };

enum NnrtDeviceType : int32_t { NNRT_DEVICE_CPU = 1 };
}  // namespace mslite

#endif
