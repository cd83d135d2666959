// What an operator is made of: operations of NNAPI, and the operands between them.
#ifndef MSLITE_DELEGATE_NNAPI_NNAPI_PLAN_H
#define MSLITE_DELEGATE_NNAPI_NNAPI_PLAN_H

#include <map>
#include <string>
#include <vector>

#include "engine/attributes.h"
#include "engine/graph_border.h"
#include "engine/known_values.h"
#include "engine/part.h"
#include "kernel.h"
#include "known.h"
#include "nnapi/nnapi_graph.h"

namespace mslite {
// The number of an operand.
using NnapiValue = uint32_t;

// A graph that is being written.
struct NnapiDraft {
  NnapiGraph graph;
  std::map<const mslite_tensor *, NnapiValue> values;
};

// One node: its operands, and the operations that it is given.
class NnapiPlan {
 public:
  using Dims = std::vector<int64_t>;

  NnapiPlan(const mslite_node &node, NnapiDraft *draft) : node_(node), draft_(draft) {}

  const mslite_node &node() const { return node_; }
  // An operand of the node; constants are written when they are first asked for.
  NnapiValue Input(int32_t index);
  void Give(NnapiValue value, int32_t output = 0);

  // Single numbers that are no tensors.
  NnapiValue Whole(int64_t number);
  NnapiValue Real(double number);
  NnapiValue Truth(bool is_true);
  // Constant tensors.
  NnapiValue Integers(const Dims &numbers);
  NnapiValue Integers(const Dims &dims, const Dims &numbers);
  NnapiValue Reals(const Dims &dims, const std::vector<float> &numbers);
  // A tensor of one number, which broadcasts.
  NnapiValue Number(double number) { return Reals({1}, {static_cast<float>(number)}); }
  // A constant of any type, over memory that outlives the graph, or over bytes that it keeps.
  NnapiValue Constant(NnapiOperand operand);
  NnapiValue Constant(NnapiOperand operand, std::vector<uint8_t> bytes);

  // The result of an operation: a tensor of float32 (or of another type, without scales).
  NnapiValue Layer(NnapiCode code, const std::vector<NnapiValue> &inputs, const Dims &dims,
                   NnapiType type = NNAPI_TENSOR_FLOAT32);
  // A tensor as an output of the node is, with its type and its scales.
  NnapiValue LayerLike(NnapiCode code, const std::vector<NnapiValue> &inputs, const mslite_tensor &like);
  // The same, as all outputs of the node.
  void LayerOfOutputs(NnapiCode code, const std::vector<NnapiValue> &inputs);
  NnapiValue Reshaped(NnapiValue x, const Dims &dims);
  // Of two tensors of float32.
  NnapiValue Binary(NnapiCode code, NnapiValue a, NnapiValue b, const Dims &dims);
  // The function of an activation, of tensors of these dimensions.
  NnapiValue Activated(NnapiValue x, int32_t activation, const Dims &dims);
  // The error function, to 2e-7 as Abramowitz and Stegun have it (7.1.26): NNAPI has none.
  NnapiValue ErrorFunction(NnapiValue x, const Dims &dims);

  // What the operand is, for operations that must know.
  NnapiOperand &operand(NnapiValue value) { return draft_->graph.operands[value]; }

 private:
  NnapiValue Add(NnapiOperand operand);

  const mslite_node &node_;
  NnapiDraft *draft_;
};

// How an operator runs on NNAPI. Adding one: an entry of this kind in the family's file in operators/.
struct NnapiOperator {
  int32_t op;
  // Writes the node. Returns why it does not run, or an empty text.
  std::string (*plan)(NnapiPlan *plan);
  bool is_stored = false;       // it also takes 8-bit integers that stand for float values
  bool takes_any_rank = false;  // it also takes tensors of more than four dimensions, the first of which are joined
};
// Null where there is none.
const NnapiOperator *FindNnapiOperator(int32_t op);

// Writes a node that all operands of are known of. Returns why it does not run, or an empty text.
std::string WriteNnapiNode(const mslite_node &node, NnapiDraft *draft);

// Writes one node as a graph of its own, to see whether it runs.
std::string WriteNnapiAlone(const mslite_node &node, NnapiGraph *graph);

// Errors: kLiteNotSupport for a node that does not run in the shapes that the part has now.
Status WriteNnapiPart(const Part &part, NnapiGraph *graph, GraphBorder *border);

// ---- what the operators' files share ----

// As NNAPI has them, four at most: the first ones of others are joined, and a single number is a tensor of one.
std::vector<int64_t> NnapiDims(const mslite_tensor &tensor);
// "" where input 0 and output 0 are of one type, with the same scales; else the reason.
std::string WhyNotMoved(const mslite_node &node);
// Whether the tensor holds integers that stand for float values.
bool IsStored(const mslite_tensor &tensor);
// The contents of a constant with rows and columns exchanged.
std::vector<uint8_t> Turned(const mslite_tensor &tensor, int64_t rows, int64_t columns);
// Whether NnapiPlan::Activated has it.
bool IsNnapiActivation(int32_t activation);
// The activation as operations apply it to their results. False: none of them does.
bool FusedNnapiActivation(int32_t activation, NnapiFuse *fuse);
}  // namespace mslite

#endif
