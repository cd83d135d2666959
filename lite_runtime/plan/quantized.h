// How operators use quantized integers: 8-bit and 16-bit values of the real value scale * (q - zero point).
#ifndef MSLITE_PLAN_QUANTIZED_H
#define MSLITE_PLAN_QUANTIZED_H

#include <string>
#include <vector>

#include "kernel.h"

namespace mslite {

enum class QuantizedUse : uint8_t {
  kComputes,          // with the real values
  kMoves,             // copies values, whatever their meaning
  kIgnores,           // reads the shape only, or the stored integers as plain integers
  kReadsQuantParams,  // converts with the quantization parameters
};

QuantizedUse QuantizedUseOf(int32_t op);

/// Returns whether the node's QuantType in the file means quantized arithmetic: full quantization, or weights with the
/// results of DynamicQuant.
inline bool IsQuantizedKind(int32_t quant_type) { return quant_type == 5 || quant_type == 6; }

bool SameRecords(const mslite_quant *a, size_t a_count, const mslite_quant *b, size_t b_count);

/// Returns "" if the call does not need a kernel for quantized integers. Otherwise returns the reason: it computes on
/// them (narrow operands have quantization parameters, or the whole node is quantized), or it moves values between
/// different quantization parameters.
std::string QuantizedProblem(const mslite_node &node);

/// Shape rules do not handle quantization parameters; the integer type of a quantized result is given by the file. Sets
/// the data types of the outputs, whose quantization parameters are set, to those that the file declares if a quantized
/// kernel has to run the node. All other kernels write the type that the shape rule gives.
void SetDeclaredTypes(int32_t op, int32_t quant_type, const std::vector<const mslite_tensor *> &inputs,
                      const std::vector<int32_t> &declared, std::vector<mslite_tensor> *outputs);

/// Returns whether the kernel's `support` depends on the data type of each quantized output. Other kernels may write
/// wider elements.
bool DependsOnOutputTypes(const mslite_kernel &kernel, const mslite_node &node);

/// Returns whether a kernel for quantized integers supports the call, according to data types, quantization parameters,
/// attributes and constants. ExpandQuantized rewrites the other calls of a model.
bool HasQuantizedKernel(const mslite_node &node);

}  // namespace mslite

#endif
