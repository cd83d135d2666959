// Which kernels of an operator cannot take the float32 calls of models, whatever the shapes are.
#ifndef MSLITE_CODEGEN_CALL_PROBE_H
#define MSLITE_CODEGEN_CALL_PROBE_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernel.h"
#include "model/graph.h"

namespace mslite::codegen {
/// Offers the nodes of graphs to the portable kernels of this library, those for vectors of one lane among them: with
/// their own element types and with others, and convolutions of images of many sizes.
class CallProbe {
 public:
  explicit CallProbe(const Graph &graph) : graph_(graph) {}

  /// Nodes come in the order of execution.
  void Visit(const Node &node);

  /// Names of the operator's kernels that refused every call whose first operand is float32, of each either with images
  /// of any size, or but for another type in its place: so types, or attributes and weights, were what they refused.
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
