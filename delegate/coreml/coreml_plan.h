// What an operator is made of: layers of a neural network in Core ML's model specification, version 4.
#ifndef MSLITE_DELEGATE_COREML_COREML_PLAN_H
#define MSLITE_DELEGATE_COREML_COREML_PLAN_H

#include <map>
#include <string>
#include <vector>

#include "coreml/protobuf.h"
#include "engine/attributes.h"
#include "engine/part.h"
#include "kernel.h"
#include "known.h"

namespace mslite {
// The numbers of layers' messages, as NeuralNetwork.proto has them.
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

// A model that is being written. Values are known by their names.
struct CoreMlDraft {
  std::vector<ProtoMessage> layers;
  int32_t count = 0;  // of values that were made
  std::map<const mslite_tensor *, std::string> values;
  // The same of images, with the channels in front: Core ML's convolutions and poolings have them there.
  std::map<const mslite_tensor *, std::string> images;
  std::vector<const mslite_tensor *> entered;  // tensors that come from outside, in the order of their use
};

// One node: its operands, and the layers that it is given.
class CoreMlPlan {
 public:
  using Dims = std::vector<int64_t>;

  CoreMlPlan(const mslite_node &node, CoreMlDraft *draft) : node_(node), draft_(draft) {}

  const mslite_node &node() const { return node_; }
  std::string Input(int32_t index);
  void Give(const std::string &value, int32_t output = 0);
  // An operand of four dimensions whose channels, its last ones, come in front.
  std::string Image(int32_t index);
  void GiveImage(const std::string &value, int32_t output = 0);
  // The first `count` operands, all in one form: as images, where one of them is there so and all may be.
  std::vector<std::string> Alike(int32_t count);
  // What is computed of these, element by element.
  void GiveAlike(const std::string &value);

  std::string Layer(CoreMlLayer type, const std::vector<std::string> &inputs, const ProtoMessage &message = {});
  std::vector<std::string> Layers(CoreMlLayer type, const std::vector<std::string> &inputs, const ProtoMessage &message,
                                  int32_t outputs);
  std::string Constant(const Dims &dims, const float *numbers, size_t count);
  std::string Number(float number) { return Constant({1}, &number, 1); }
  std::string Transposed(const std::string &x, const Dims &axes);
  std::string Reshaped(const std::string &x, const Dims &dims);
  // The function of an activation.
  std::string Activated(const std::string &x, int32_t activation);

 private:
  const mslite_node &node_;
  CoreMlDraft *draft_;
  bool is_image_ = false;  // what Alike gave
};

// How an operator runs on Core ML. Adding one: an entry of this kind in the family's file in operators/.
struct CoreMlOperator {
  int32_t op;
  // Writes the node. Returns why it does not run, or an empty text.
  std::string (*plan)(CoreMlPlan *plan);
};

// Why the node does not run; an empty text: it does.
std::string WhyNotCoreMl(const mslite_node &node);

// A part as a whole model: its text of bytes, and the numbers in the part of the inputs that it has. Inputs and outputs
// are called input_0, output_0 and so on, by their numbers in the part.
struct CoreMlModelText {
  std::string bytes;
  std::vector<size_t> inputs;
};
// Errors: kLiteNotSupport for a node that does not run in the shapes that the part has now.
Status WriteCoreMlPart(const Part &part, CoreMlModelText *model);

// ---- what the operators' files share ----

// As Core ML has them: a single number is a tensor of one.
std::vector<int64_t> CoreMlDims(const mslite_tensor &tensor);
// Numbers of a layer.
ProtoMessage CoreMlWeights(const float *numbers, size_t count);
// Whether CoreMlPlan::Activated has it.
bool IsCoreMlActivation(int32_t activation);
}  // namespace mslite

#endif
