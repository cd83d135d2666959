// What an operator is made of: operations of NNRT, and the tensors between them.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_PLAN_H
#define MSLITE_DELEGATE_NNRT_NNRT_PLAN_H

#include <map>
#include <string>
#include <vector>

#include "engine/attributes.h"
#include "engine/graph_border.h"
#include "engine/part.h"
#include "kernel.h"
#include "known.h"
#include "nnrt/nnrt_graph.h"

namespace mslite {
// The number of a tensor.
using NnrtValue = uint32_t;

// A graph that is being written.
struct NnrtDraft {
  NnrtGraph graph;
  std::map<const mslite_tensor *, NnrtValue> values;
};

// One node: its operands, and the operations that it is given.
class NnrtPlan {
 public:
  using Dims = std::vector<int64_t>;

  NnrtPlan(const mslite_node &node, NnrtDraft *draft) : node_(node), draft_(draft) {}

  const mslite_node &node() const { return node_; }
  // An operand of the node; constants are written when they are first asked for.
  NnrtValue Input(int32_t index);
  // The first `count` of them.
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

  // The result of an operation, of the element type of output 0 or another one.
  NnrtValue Layer(NnrtCode code, const std::vector<NnrtValue> &attributes, const std::vector<NnrtValue> &inputs,
                  const Dims &dims);
  // The same, as all outputs of the node.
  void LayerOfOutputs(NnrtCode code, const std::vector<NnrtValue> &attributes, const std::vector<NnrtValue> &inputs);
  NnrtValue Reshaped(NnrtValue x, const Dims &dims);
  // The function of an activation, of a tensor of these dimensions.
  NnrtValue Activated(NnrtValue x, int32_t activation, const Dims &dims);

 private:
  NnrtValue Add(NnrtOperand operand);
  NnrtValue Constant(NnrtOperand operand, std::vector<uint8_t> bytes);

  const mslite_node &node_;
  NnrtDraft *draft_;
};

// How an operator runs on NNRT. Adding one: an entry of this kind in the family's file in operators/.
struct NnrtOperator {
  int32_t op;
  // Writes the node. Returns why it does not run, or an empty text.
  std::string (*plan)(NnrtPlan *plan);
};
// Null where there is none.
const NnrtOperator *FindNnrtOperator(int32_t op);

// Writes one node as a graph of its own, to see whether it runs. Returns why it does not, or an empty text.
std::string WriteNnrtAlone(const mslite_node &node, NnrtGraph *graph);

// Errors: kLiteNotSupport for a node that does not run in the shapes that the part has now.
Status WriteNnrtPart(const Part &part, NnrtGraph *graph, GraphBorder *border);

// ---- what the operators' files share ----

// As NNRT has them: a single number is a tensor of one.
std::vector<int64_t> NnrtDims(const mslite_tensor &tensor);
// Whether NnrtPlan::Activated has it.
bool IsNnrtActivation(int32_t activation);
// The activation as operations apply it to their results. False: none of them does.
bool FusedNnrtActivation(int32_t activation, NnrtFuse *fuse);
}  // namespace mslite

#endif
