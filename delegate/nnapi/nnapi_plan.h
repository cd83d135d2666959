// NnapiPlan: writes operators as NNAPI operations and operands.
#ifndef MSLITE_DELEGATE_NNAPI_NNAPI_PLAN_H
#define MSLITE_DELEGATE_NNAPI_NNAPI_PLAN_H

#include <map>
#include <string>
#include <vector>

#include "engine/attributes.h"
#include "engine/graph_boundary.h"
#include "engine/known_values.h"
#include "engine/part.h"
#include "kernel.h"
#include "known_values.h"
#include "nnapi/nnapi_graph.h"

namespace mslite {
// The index of an operand.
using NnapiValue = uint32_t;

// A graph under construction.
struct NnapiDraft {
  NnapiGraph graph;
  std::map<const mslite_tensor *, NnapiValue> values;
};

// One node and the operations that are written for it.
class NnapiPlan {
 public:
  using Dims = std::vector<int64_t>;

  NnapiPlan(const mslite_node &node, NnapiDraft *draft) : node_(node), draft_(draft) {}

  const mslite_node &node() const { return node_; }
  // Returns an input of the node. Constants are written when they are first used.
  NnapiValue Input(int32_t index);
  void Give(NnapiValue value, int32_t output = 0);

  // Scalar operands.
  NnapiValue Whole(int64_t number);
  NnapiValue Real(double number);
  NnapiValue Truth(bool is_true);
  // Constant tensors.
  NnapiValue Integers(const Dims &numbers);
  NnapiValue Integers(const Dims &dims, const Dims &numbers);
  NnapiValue Reals(const Dims &dims, const std::vector<float> &numbers);
  // A tensor with one element, for broadcasting.
  NnapiValue Number(double number) { return Reals({1}, {static_cast<float>(number)}); }
  // A constant of any type. Its data must outlive the graph, or be owned by the graph.
  NnapiValue Constant(NnapiOperand operand);
  NnapiValue Constant(NnapiOperand operand, std::vector<uint8_t> bytes);

  // Writes an operation and returns its output: a float32 tensor, or another type without scales.
  NnapiValue Layer(NnapiCode code, const std::vector<NnapiValue> &inputs, const Dims &dims,
                   NnapiType type = NNAPI_TENSOR_FLOAT32);
  // The same, with the type and scales of an output of the node.
  NnapiValue LayerLike(NnapiCode code, const std::vector<NnapiValue> &inputs, const mslite_tensor &like);
  // Writes an operation whose outputs are all outputs of the node.
  void LayerOfOutputs(NnapiCode code, const std::vector<NnapiValue> &inputs);
  NnapiValue Reshaped(NnapiValue x, const Dims &dims);
  // A binary operation on two float32 tensors.
  NnapiValue Binary(NnapiCode code, NnapiValue a, NnapiValue b, const Dims &dims);
  // Returns the value after an activation.
  NnapiValue Activated(NnapiValue x, int32_t activation, const Dims &dims);
  // The error function with an accuracy of 2e-7 (Abramowitz and Stegun 7.1.26), which NNAPI does not have.
  NnapiValue ErrorFunction(NnapiValue x, const Dims &dims);

  // Returns the operand of a value.
  NnapiOperand &operand(NnapiValue value) { return draft_->graph.operands[value]; }

 private:
  NnapiValue Add(NnapiOperand operand);

  const mslite_node &node_;
  NnapiDraft *draft_;
};

// The implementation of an operator on NNAPI. A new operator needs an entry in a file in operators/.
struct NnapiOperator {
  int32_t op;
  // Writes the node. Returns the reason if it is unsupported, else "".
  std::string (*plan)(NnapiPlan *plan);
  bool is_stored = false;       // also supports quantized 8-bit tensors
  bool takes_any_rank = false;  // also supports more than four dimensions, the first of which are merged
};
// Returns the implementation of an operator; null if there is none.
const NnapiOperator *FindNnapiOperator(int32_t op);

// Writes a node with known shapes. Returns the reason if it is unsupported, else "".
std::string WriteNnapiNode(const mslite_node &node, NnapiDraft *draft);

// Writes one node as a graph, to check if it is supported.
std::string WriteNnapiAlone(const mslite_node &node, NnapiGraph *graph);

// Writes a partition. Errors: kLiteNotSupport for a node that is unsupported with the current shapes.
Status WriteNnapiPart(const Part &part, NnapiGraph *graph, GraphBoundary *border);

// ---- common functions of the files in operators/ ----

// Returns the shape for NNAPI, with at most four dimensions: the first ones are merged. [1] for a scalar.
std::vector<int64_t> NnapiDims(const mslite_tensor &tensor);
// Returns "" if input 0 and output 0 have the same type and scales, else the reason.
std::string WhyNotMoved(const mslite_node &node);
// Returns true if the tensor is quantized.
bool IsStored(const mslite_tensor &tensor);
// Returns the data of a constant, transposed.
std::vector<uint8_t> TransposedWeights(const mslite_tensor &tensor, int64_t rows, int64_t columns);
// Returns true if NnapiPlan::Activated supports the activation.
bool IsNnapiActivation(int32_t activation);
// Converts an activation to a fused activation of NNAPI. Returns false if there is none.
bool FusedNnapiActivation(int32_t activation, NnapiFuse *fuse);
}  // namespace mslite

#endif
