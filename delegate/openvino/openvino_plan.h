// What an operator is made of: layers of OpenVINO, and the values between them.
#ifndef MSLITE_DELEGATE_OPENVINO_OPENVINO_PLAN_H
#define MSLITE_DELEGATE_OPENVINO_OPENVINO_PLAN_H

#include <map>
#include <string>
#include <vector>

#include "engine/attributes.h"
#include "engine/known_values.h"
#include "engine/part.h"
#include "kernel.h"
#include "known_values.h"
#include "openvino/openvino_ir.h"

namespace mslite {
// A part that is being written.
struct OpenVinoDraft {
  OpenVinoIr ir;
  std::map<int32_t, OpenVinoValue> values;  // of the part's tensors
  // The same of images, with the channels in front: OpenVINO's convolutions and poolings have them there, so what
  // follows on each other stays in this form, and only who asks for the other one pays for it.
  std::map<int32_t, OpenVinoValue> images;
  // Whether a node has met an impossible value: the node's name, and a boolean, true where it has.
  std::vector<std::pair<std::string, OpenVinoValue>> faults;
};

// One node of the part: its operands, and the layers that it is given.
class OpenVinoPlan {
 public:
  using Dims = OpenVinoIr::Dims;
  using Attributes = OpenVinoIr::Attributes;

  OpenVinoPlan(const Part &part, const Part::Node &node, const mslite_node &call, OpenVinoDraft *draft)
      : part_(part), entry_(node), node_(call), draft_(draft) {}

  const mslite_node &node() const { return node_; }
  // An operand as a value; constants are written when they are first asked for.
  OpenVinoValue Input(int32_t index);
  void Give(OpenVinoValue value, int32_t output = 0);
  // An operand of four dimensions whose channels, its last ones, come in front.
  OpenVinoValue Image(int32_t index);
  // Whether the operand is there in this form.
  bool HasImage(int32_t index) const { return draft_->images.count(entry_.inputs[static_cast<size_t>(index)]) != 0; }
  void GiveImage(OpenVinoValue value, int32_t output = 0);
  // The run fails where `is_met`, a boolean without dimensions, is true.
  void Fault(OpenVinoValue is_met) { draft_->faults.push_back({entry_.name, is_met}); }

  OpenVinoValue Layer(const char *type, const std::vector<OpenVinoValue> &inputs, const Attributes &attributes = {},
                      const char *opset = "opset1", int32_t outputs = 1);
  OpenVinoValue Reals(const Dims &dims, const std::vector<float> &numbers);
  OpenVinoValue Real(double number) { return Reals({}, {static_cast<float>(number)}); }
  // A vector of int64.
  OpenVinoValue Integers(const std::vector<int64_t> &numbers);
  OpenVinoValue Integer(int64_t number);
  // A vector of int32.
  OpenVinoValue Indices(const std::vector<int32_t> &numbers);
  // A single number of an element type, to compute with a tensor of it.
  OpenVinoValue Number(int32_t type, double number);

  OpenVinoValue Binary(const char *type, OpenVinoValue a, OpenVinoValue b, const char *opset = "opset1");
  // `a` where `condition` holds, else `b`.
  OpenVinoValue Selected(OpenVinoValue condition, OpenVinoValue a, OpenVinoValue b);
  OpenVinoValue Transposed(OpenVinoValue x, const std::vector<int64_t> &permutation);
  OpenVinoValue Reshaped(OpenVinoValue x, const Dims &dims);
  // The function of a fused activation, which has no numbers of its own.
  OpenVinoValue Activated(OpenVinoValue x, int32_t activation);

 private:
  const Part &part_;
  const Part::Node &entry_;
  const mslite_node &node_;
  OpenVinoDraft *draft_;
};

// How an operator runs on OpenVINO. Adding one: an entry of this kind in the family's file in operators/.
struct OpenVinoOperator {
  int32_t op;
  // Why the node does not run; an empty text: it does.
  std::string (*why_not)(const mslite_node &node);
  void (*plan)(OpenVinoPlan *plan);
};
// Null where there is none.
const OpenVinoOperator *FindOpenVinoOperator(int32_t op);

// Writes the whole part: its inputs in their order, its nodes, its outputs in their order, then the faults.
// Errors: kLiteNotSupport for a node that OpenVINO cannot run in the shapes that the part has now.
Status WriteOpenVinoPart(const Part &part, OpenVinoDraft *draft);

// ---- what the operators' files share ----

// The name of an element type in the intermediate representation; null for those that the engine does not take.
const char *OpenVinoType(int32_t type);
// False where contents of int64 (null: unknown) do not fit into int32, with which OpenVINO computes: it would wrap.
bool FitsIn32Bits(const mslite_tensor &tensor, const void *contents);
OpenVinoIr::Dims DimsOf(const mslite_tensor &tensor);
// The numbers of a constant of float32.
std::vector<float> FloatsOf(const mslite_tensor &tensor);
// Whether OpenVinoPlan::Activated has it.
bool IsFusedActivation(int32_t activation);
// A number as attributes have it.
std::string TextOf(double number);
}  // namespace mslite

#endif
