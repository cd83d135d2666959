// Finds the kernels of an operator that do not support the float32 calls of a model, for any shapes.
#ifndef MSLITE_CODEGEN_KERNEL_SUPPORT_PROBE_H
#define MSLITE_CODEGEN_KERNEL_SUPPORT_PROBE_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernel.h"
#include "model/graph.h"

namespace mslite::codegen {
/// Checks whether the portable kernels of this library support the nodes of a graph: with their own data types, with
/// other types, and convolutions with images of many sizes.
class KernelSupportProbe {
 public:
  explicit KernelSupportProbe(const Graph &graph) : graph_(graph) {}

  /// Checks a node. Call it in the order of execution.
  void Visit(const Node &node);

  /// Returns the names of the operator's kernels that do not support any of its calls with a float32 first input,
  /// because of the data type (another type is supported) or because of attributes and weights (no image size is
  /// supported).
  std::set<std::string> Refusing(int32_t op) const;

 private:
  const mslite_tensor &FactsOf(int32_t index);

  const Graph &graph_;
  std::map<int32_t, mslite_tensor> facts_;
  std::map<int32_t, std::map<std::string, bool>> refused_;  // operator -> kernel -> whether it still counts as refusing
  int64_t next_symbol_ = MSLITE_SYMBOL_LIMIT - 1;
};
}  // namespace mslite::codegen

#endif
