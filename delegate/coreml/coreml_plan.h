// CoreMlPlan: writes operators as layers of a neural network in Core ML's model specification, version 4.
#ifndef MSLITE_DELEGATE_COREML_COREML_PLAN_H
#define MSLITE_DELEGATE_COREML_COREML_PLAN_H

#include <map>
#include <string>
#include <vector>

#include "coreml/protobuf.h"
#include "engine/attributes.h"
#include "engine/part.h"
#include "kernel.h"
#include "known_values.h"

namespace mslite {
// The field numbers of layers in NeuralNetwork.proto.
enum CoreMlLayer : int32_t {
  COREML_CONVOLUTION = 100,
  COREML_POOLING = 120,
  COREML_ACTIVATION = 130,
  COREML_UNARY = 220,
  COREML_COPY = 600,
  COREML_CLIP = 660,
  COREML_CEIL = 665,
  COREML_FLOOR = 670,
  COREML_SIN = 710,
  COREML_COS = 715,
  COREML_ERF = 790,
  COREML_GELU = 795,
  COREML_MIN = 870,
  COREML_MAX = 875,
  COREML_ADD = 880,
  COREML_POW = 885,
  COREML_DIVIDE = 890,
  COREML_MULTIPLY = 900,
  COREML_SUBTRACT = 905,
  COREML_SOFTMAX_ND = 950,
  COREML_SPLIT_ND = 975,
  COREML_CONCAT_ND = 980,
  COREML_TRANSPOSE = 985,
  COREML_SLICE_STATIC = 995,
  COREML_BATCHED_MATMUL = 1045,
  COREML_LOAD_CONSTANT_ND = 1070,
  COREML_RESHAPE_STATIC = 1140,
  COREML_CONSTANT_PAD = 1155,
  COREML_REDUCE_MAX = 1260,
  COREML_REDUCE_MIN = 1265,
  COREML_REDUCE_SUM = 1270,
  COREML_REDUCE_MEAN = 1280,
  COREML_LAYER_NORM = 1350,
};

// A model specification under construction. Values are identified by name.
struct CoreMlDraft {
  std::vector<ProtoMessage> layers;
  int32_t count = 0;  // of values that were made
  std::map<const mslite_tensor *, std::string> values;
  // The same for images in the layout NCHW, which Core ML's convolutions and poolings use.
  std::map<const mslite_tensor *, std::string> images;
  std::vector<const mslite_tensor *> entered;  // inputs of the partition, in the order of their use
};

// One node and the layers that are written for it.
class CoreMlPlan {
 public:
  using Dims = std::vector<int64_t>;

  CoreMlPlan(const mslite_node &node, CoreMlDraft *draft) : node_(node), draft_(draft) {}

  const mslite_node &node() const { return node_; }
  std::string Input(int32_t index);
  void Give(const std::string &value, int32_t output = 0);
  // Returns a 4-D input in the layout NCHW.
  std::string Image(int32_t index);
  void GiveImage(const std::string &value, int32_t output = 0);
  // Returns the first `count` inputs in the same layout: NCHW if one of them already has it and all can have it.
  std::vector<std::string> Alike(int32_t count);
  // Sets the output of an element-wise operation on the values of Alike.
  void GiveAlike(const std::string &value);

  std::string Layer(CoreMlLayer type, const std::vector<std::string> &inputs, const ProtoMessage &message = {});
  std::vector<std::string> Layers(CoreMlLayer type, const std::vector<std::string> &inputs, const ProtoMessage &message,
                                  int32_t outputs);
  std::string Constant(const Dims &dims, const float *numbers, size_t count);
  std::string Number(float number) { return Constant({1}, &number, 1); }
  std::string Transposed(const std::string &x, const Dims &axes);
  std::string Reshaped(const std::string &x, const Dims &dims);
  // Returns the value after an activation.
  std::string Activated(const std::string &x, int32_t activation);

 private:
  const mslite_node &node_;
  CoreMlDraft *draft_;
  bool is_image_ = false;  // what Alike gave
};

// The implementation of an operator on Core ML. A new operator needs an entry in a file in operators/.
struct CoreMlOperator {
  int32_t op;
  // Writes the node. Returns the reason if it is unsupported, else "".
  std::string (*plan)(CoreMlPlan *plan);
};

// Returns the reason if the node is unsupported, else "".
std::string WhyNotCoreMl(const mslite_node &node);

// A partition as a model specification: its bytes, and the indices of the partition's inputs that it uses. Inputs and
// outputs are named input_0, output_0 and so on, by their index in the partition.
struct CoreMlModelText {
  std::string bytes;
  std::vector<size_t> inputs;
};
// Writes a partition. Errors: kLiteNotSupport for a node that is unsupported with the current shapes.
Status WriteCoreMlPart(const Part &part, CoreMlModelText *model);

// ---- common functions of the files in operators/ ----

// Returns the shape for Core ML: [1] for a scalar.
std::vector<int64_t> CoreMlDims(const mslite_tensor &tensor);
// Returns the message for the weights of a layer.
ProtoMessage CoreMlWeights(const float *numbers, size_t count);
// Returns true if CoreMlPlan::Activated supports the activation.
bool IsCoreMlActivation(int32_t activation);
}  // namespace mslite

#endif
