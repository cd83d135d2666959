// What operators do with quantized integers: 8-bit and 16-bit values that stand for scale * (q - zero point).
#ifndef MSLITE_PLAN_QUANTIZED_H
#define MSLITE_PLAN_QUANTIZED_H

#include <string>
#include <vector>

#include "kernel.h"

namespace mslite {

enum class QuantizedUse : uint8_t {
  kComputes,      // with the float values
  kMoves,         // copies values, whatever they stand for
  kIgnores,       // looks at the shape, or at the stored integers as such
  kReadsRecords,  // converts by the records
};

QuantizedUse QuantizedUseOf(int32_t op);

/// Quantized arithmetic in a node (QuantType of the file): weights and activations, or weights and the results of
/// DynamicQuant.
inline bool IsQuantizedKind(int32_t quant_type) { return quant_type == 5 || quant_type == 6; }

bool SameRecords(const mslite_quant *a, size_t a_count, const mslite_quant *b, size_t b_count);

/// "" when the call needs no kernel for quantized integers. Otherwise why it does: it computes on them (its narrow
/// operands have records, or the whole node is quantized), or moves values between different records.
std::string QuantizedProblem(const mslite_node &node);

/// Shape rules know no records: which integers a quantized result is stored as is the file's to say. Gives the outputs,
/// whose records are set, the types that the file declares, where a kernel for quantized integers has to run the node;
/// all other kernels write what the rule says.
void StoreAsDeclared(int32_t op, int32_t quant_type, const std::vector<const mslite_tensor *> &inputs,
                     const std::vector<int32_t> &declared, std::vector<mslite_tensor> *outputs);

/// True when the kernel's `support` depends on the type of each quantized output: others may write wider elements.
bool AsksForStoredTypes(const mslite_kernel &kernel, const mslite_node &node);

/// True when a kernel for quantized integers takes the call, as far as types, records, attributes and constants tell.
/// ExpandQuantized rewrites the other calls of a model.
bool HasQuantizedKernel(const mslite_node &node);

}  // namespace mslite

#endif
