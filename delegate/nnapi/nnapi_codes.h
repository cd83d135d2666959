// The constants of Android's Neural Networks API, from its public header NeuralNetworksTypes.h.
#ifndef MSLITE_DELEGATE_NNAPI_NNAPI_CODES_H
#define MSLITE_DELEGATE_NNAPI_NNAPI_CODES_H

#include <cstdint>

namespace mslite {
// CALL(name, value, first feature level with it) for each operation that the backend writes.
#define MSLITE_NNAPI_OPERATIONS(CALL)        \
  CALL(ADD, 0, 27)                           \
  CALL(AVERAGE_POOL_2D, 1, 27)               \
  CALL(CONCATENATION, 2, 27)                 \
  CALL(CONV_2D, 3, 27)                       \
  CALL(DEPTHWISE_CONV_2D, 4, 27)             \
  CALL(DEPTH_TO_SPACE, 5, 27)                \
  CALL(DEQUANTIZE, 6, 27)                    \
  CALL(FLOOR, 8, 27)                         \
  CALL(FULLY_CONNECTED, 9, 27)               \
  CALL(LOCAL_RESPONSE_NORMALIZATION, 13, 27) \
  CALL(LOGISTIC, 14, 27)                     \
  CALL(MAX_POOL_2D, 17, 27)                  \
  CALL(MUL, 18, 27)                          \
  CALL(RELU, 19, 27)                         \
  CALL(RELU1, 20, 27)                        \
  CALL(RELU6, 21, 27)                        \
  CALL(RESHAPE, 22, 27)                      \
  CALL(RESIZE_BILINEAR, 23, 27)              \
  CALL(SOFTMAX, 25, 27)                      \
  CALL(SPACE_TO_DEPTH, 26, 27)               \
  CALL(TANH, 28, 27)                         \
  CALL(DIV, 30, 28)                          \
  CALL(MEAN, 31, 28)                         \
  CALL(PAD, 32, 28)                          \
  CALL(STRIDED_SLICE, 35, 28)                \
  CALL(SUB, 36, 28)                          \
  CALL(TRANSPOSE, 37, 28)                    \
  CALL(ABS, 38, 29)                          \
  CALL(ARGMAX, 39, 29)                       \
  CALL(ARGMIN, 40, 29)                       \
  CALL(CAST, 45, 29)                         \
  CALL(EQUAL, 48, 29)                        \
  CALL(EXP, 49, 29)                          \
  CALL(GATHER, 51, 29)                       \
  CALL(GREATER, 53, 29)                      \
  CALL(GREATER_EQUAL, 54, 29)                \
  CALL(GROUPED_CONV_2D, 55, 29)              \
  CALL(LESS, 58, 29)                         \
  CALL(LESS_EQUAL, 59, 29)                   \
  CALL(LOG, 60, 29)                          \
  CALL(LOGICAL_AND, 61, 29)                  \
  CALL(LOGICAL_NOT, 62, 29)                  \
  CALL(LOGICAL_OR, 63, 29)                   \
  CALL(LOG_SOFTMAX, 64, 29)                  \
  CALL(MAXIMUM, 65, 29)                      \
  CALL(MINIMUM, 66, 29)                      \
  CALL(NEG, 67, 29)                          \
  CALL(NOT_EQUAL, 68, 29)                    \
  CALL(PAD_V2, 69, 29)                       \
  CALL(POW, 70, 29)                          \
  CALL(PRELU, 71, 29)                        \
  CALL(QUANTIZE, 72, 29)                     \
  CALL(REDUCE_MAX, 77, 29)                   \
  CALL(REDUCE_MIN, 78, 29)                   \
  CALL(REDUCE_PROD, 79, 29)                  \
  CALL(REDUCE_SUM, 80, 29)                   \
  CALL(RSQRT, 83, 29)                        \
  CALL(SELECT, 84, 29)                       \
  CALL(SIN, 85, 29)                          \
  CALL(SLICE, 86, 29)                        \
  CALL(SPLIT, 87, 29)                        \
  CALL(SQRT, 88, 29)                         \
  CALL(TILE, 89, 29)                         \
  CALL(TRANSPOSE_CONV_2D, 91, 29)            \
  CALL(RESIZE_NEAREST_NEIGHBOR, 94, 29)      \
  CALL(ELU, 98, 30)                          \
  CALL(HARD_SWISH, 99, 30)                   \
  CALL(BATCH_MATMUL, 102, 1000006)

enum NnapiCode : int32_t {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names and types cannot be
#define MSLITE_NNAPI_CODE(name, number, level) NNAPI_##name = number,
  MSLITE_NNAPI_OPERATIONS(MSLITE_NNAPI_CODE)
#undef MSLITE_NNAPI_CODE
};

enum NnapiType : int32_t {
  NNAPI_FLOAT32 = 0,
  NNAPI_INT32 = 1,
  NNAPI_TENSOR_FLOAT32 = 3,
  NNAPI_TENSOR_INT32 = 4,
  NNAPI_TENSOR_QUANT8_ASYMM = 5,
  NNAPI_BOOL = 6,
  NNAPI_TENSOR_BOOL8 = 9,
  NNAPI_TENSOR_QUANT8_SYMM_PER_CHANNEL = 11,
  NNAPI_TENSOR_QUANT8_ASYMM_SIGNED = 14,
};

// The fused activation of an operation.
enum NnapiFuse : int32_t { NNAPI_FUSED_NONE = 0, NNAPI_FUSED_RELU = 1, NNAPI_FUSED_RELU1 = 2, NNAPI_FUSED_RELU6 = 3 };

enum NnapiDeviceType : int32_t { NNAPI_DEVICE_CPU = 2 };

// Feature levels are Android API levels up to 31; later ones are numbered separately.
enum NnapiLevel : int64_t { NNAPI_LEVEL_3 = 29, NNAPI_LEVEL_4 = 30 };

enum NnapiPreference : int32_t { NNAPI_PREFER_FAST_SINGLE_ANSWER = 1 };
}  // namespace mslite

#endif
