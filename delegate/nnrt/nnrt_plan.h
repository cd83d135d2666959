// NnrtPlan: writes operators as NNRT operations and tensors.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_PLAN_H
#define MSLITE_DELEGATE_NNRT_NNRT_PLAN_H

#include <map>
#include <string>
#include <vector>

#include "engine/attributes.h"
#include "engine/graph_boundary.h"
#include "engine/part.h"
#include "kernel.h"
#include "known_values.h"
#include "nnrt/nnrt_graph.h"

namespace mslite {
// The index of a tensor.
using NnrtValue = uint32_t;

// A graph under construction.
struct NnrtDraft {
  NnrtGraph graph;
  std::map<const mslite_tensor *, NnrtValue> values;
};

// One node and the operations that are written for it.
class NnrtPlan {
 public:
  using Dims = std::vector<int64_t>;

  NnrtPlan(const mslite_node &node, NnrtDraft *draft) : node_(node), draft_(draft) {}

  const mslite_node &node() const { return node_; }
  // Returns an input of the node. Constants are written when they are first used.
  NnrtValue Input(int32_t index);
  // Returns the first `count` inputs.
  std::vector<NnrtValue> Inputs(int32_t count);
  void Give(NnrtValue value, int32_t output = 0);

  // Attributes of an operation.
  NnrtValue Flag(NnrtRole role, bool is_true);
  NnrtValue Small(NnrtRole role, int8_t number);
  NnrtValue Whole(NnrtRole role, int64_t number);
  NnrtValue Wholes(NnrtRole role, const Dims &numbers);
  NnrtValue Real(NnrtRole role, double number);
  // Constant operands.
  NnrtValue Integers(const Dims &numbers);
  NnrtValue Integers(const Dims &dims, const Dims &numbers);
  NnrtValue Reals(const std::vector<float> &numbers);

  // Writes an operation and returns its output, with the data type of output 0 or another one.
  NnrtValue Layer(NnrtCode code, const std::vector<NnrtValue> &attributes, const std::vector<NnrtValue> &inputs,
                  const Dims &dims);
  // Writes an operation whose outputs are all outputs of the node.
  void LayerOfOutputs(NnrtCode code, const std::vector<NnrtValue> &attributes, const std::vector<NnrtValue> &inputs);
  NnrtValue Reshaped(NnrtValue x, const Dims &dims);
  // Returns the value after an activation.
  NnrtValue Activated(NnrtValue x, int32_t activation, const Dims &dims);

 private:
  NnrtValue Add(NnrtOperand operand);
  NnrtValue Constant(NnrtOperand operand, std::vector<uint8_t> bytes);

  const mslite_node &node_;
  NnrtDraft *draft_;
};

// The implementation of an operator on NNRT. A new operator needs an entry in a file in operators/.
struct NnrtOperator {
  int32_t op;
  // Writes the node. Returns the reason if it is unsupported, else "".
  std::string (*plan)(NnrtPlan *plan);
};
// Returns the implementation of an operator; null if there is none.
const NnrtOperator *FindNnrtOperator(int32_t op);

// Writes one node as a graph, to check if it is supported. Returns the reason if it is not, else "".
std::string WriteNnrtAlone(const mslite_node &node, NnrtGraph *graph);

// Writes a partition. Errors: kLiteNotSupport for a node that is unsupported with the current shapes.
Status WriteNnrtPart(const Part &part, NnrtGraph *graph, GraphBoundary *border);

// ---- common functions of the files in operators/ ----

// Returns the shape for NNRT: [1] for a scalar.
std::vector<int64_t> NnrtDims(const mslite_tensor &tensor);
// Returns true if NnrtPlan::Activated supports the activation.
bool IsNnrtActivation(int32_t activation);
// Converts an activation to a fused activation of NNRT. Returns false if there is none.
bool FusedNnrtActivation(int32_t activation, NnrtFuse *fuse);
}  // namespace mslite

#endif
