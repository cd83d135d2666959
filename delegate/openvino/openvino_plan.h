// OpenVinoPlan: writes operators as layers of OpenVINO.
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
// A partition under construction.
struct OpenVinoDraft {
  OpenVinoIr ir;
  std::map<int32_t, OpenVinoValue> values;  // tensor -> value in the model's layout
  // Tensor -> value in the layout NCHW, which OpenVINO's convolutions and poolings use. A tensor is transposed only if
  // a node needs the other layout.
  std::map<int32_t, OpenVinoValue> images;
  // Node name and a boolean that is true if the node met a fault, such as an index out of range.
  std::vector<std::pair<std::string, OpenVinoValue>> faults;
};

// One node and the layers that are written for it.
class OpenVinoPlan {
 public:
  using Dims = OpenVinoIr::Dims;
  using Attributes = OpenVinoIr::Attributes;

  OpenVinoPlan(const Part &part, const Part::Node &node, const mslite_node &call, OpenVinoDraft *draft)
      : part_(part), entry_(node), node_(call), draft_(draft) {}

  const mslite_node &node() const { return node_; }
  // Returns an input of the node. Constants are written when they are first used.
  OpenVinoValue Input(int32_t index);
  void Give(OpenVinoValue value, int32_t output = 0);
  // Returns a 4-D input in the layout NCHW.
  OpenVinoValue Image(int32_t index);
  // Returns true if the input already exists in the layout NCHW.
  bool HasImage(int32_t index) const { return draft_->images.count(entry_.inputs[static_cast<size_t>(index)]) != 0; }
  void GiveImage(OpenVinoValue value, int32_t output = 0);
  // Makes the run fail if `is_met`, a boolean scalar, is true.
  void Fault(OpenVinoValue is_met) { draft_->faults.push_back({entry_.name, is_met}); }

  OpenVinoValue Layer(const char *type, const std::vector<OpenVinoValue> &inputs, const Attributes &attributes = {},
                      const char *opset = "opset1", int32_t outputs = 1);
  OpenVinoValue Reals(const Dims &dims, const std::vector<float> &numbers);
  OpenVinoValue Real(double number) { return Reals({}, {static_cast<float>(number)}); }
  // Returns a constant int64 vector.
  OpenVinoValue Integers(const std::vector<int64_t> &numbers);
  OpenVinoValue Integer(int64_t number);
  // Returns a constant int32 vector.
  OpenVinoValue Indices(const std::vector<int32_t> &numbers);
  // Returns a constant scalar of the data type `type`.
  OpenVinoValue Number(int32_t type, double number);

  OpenVinoValue Binary(const char *type, OpenVinoValue a, OpenVinoValue b, const char *opset = "opset1");
  // Returns `a` for elements with a true `condition`, else `b`.
  OpenVinoValue Selected(OpenVinoValue condition, OpenVinoValue a, OpenVinoValue b);
  OpenVinoValue Transposed(OpenVinoValue x, const std::vector<int64_t> &permutation);
  OpenVinoValue Reshaped(OpenVinoValue x, const Dims &dims);
  // Returns the value after a fused activation without parameters.
  OpenVinoValue Activated(OpenVinoValue x, int32_t activation);

 private:
  const Part &part_;
  const Part::Node &entry_;
  const mslite_node &node_;
  OpenVinoDraft *draft_;
};

// The implementation of an operator on OpenVINO. A new operator needs an entry in a file in operators/.
struct OpenVinoOperator {
  int32_t op;
  // Returns the reason if the node is unsupported, else "".
  std::string (*why_not)(const mslite_node &node);
  void (*plan)(OpenVinoPlan *plan);
};
// Returns the implementation of an operator; null if there is none.
const OpenVinoOperator *FindOpenVinoOperator(int32_t op);

// Writes a partition: its inputs, nodes and outputs in their order, then the faults as further outputs. Errors:
// kLiteNotSupport for a node that is unsupported with the current shapes.
Status WriteOpenVinoPart(const Part &part, OpenVinoDraft *draft);

// ---- common functions of the files in operators/ ----

// Returns the name of a data type in the intermediate representation; null if the backend does not support it.
const char *OpenVinoType(int32_t type);
// Returns false if int64 values do not fit into int32, in which OpenVINO computes them. Null `contents`: unknown
// values.
bool FitsIn32Bits(const mslite_tensor &tensor, const void *contents);
OpenVinoIr::Dims DimsOf(const mslite_tensor &tensor);
// Returns the values of a float32 constant.
std::vector<float> FloatsOf(const mslite_tensor &tensor);
// Returns true if OpenVinoPlan::Activated supports the activation.
bool IsFusedActivation(int32_t activation);
// Formats a number as in attributes.
std::string TextOf(double number);
}  // namespace mslite

#endif
