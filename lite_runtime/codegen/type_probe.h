// Which kernels of an operator cannot take float32, whatever the shapes are.
#ifndef MSLITE_CODEGEN_TYPE_PROBE_H
#define MSLITE_CODEGEN_TYPE_PROBE_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernel.h"
#include "model/graph.h"

namespace mslite::codegen {
/// Offers the nodes of graphs to the portable kernels of this library, with their own element types and with others.
class TypeProbe {
 public:
  explicit TypeProbe(const Graph &graph) : graph_(graph) {}

  /// Nodes come in the order of execution.
  void Visit(const Node &node);

  /// Names of the operator's kernels that refused every call whose first operand is float32, and took one of those
  /// calls with another type in its place: so types alone were what they refused.
  std::set<std::string> RefuseFloat32(int32_t op) const;

 private:
  const mslite_tensor &FactsOf(int32_t index);

  const Graph &graph_;
  std::map<int32_t, mslite_tensor> facts_;
  std::map<int32_t, std::map<std::string, bool>> refused_;  // operator -> kernel -> whether it still counts as refusing
  int64_t next_symbol_ = MSLITE_SYMBOL_LIMIT - 1;
};
}  // namespace mslite::codegen

#endif
