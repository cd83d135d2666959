// Writes OpenVINO's intermediate representation: XML with layers and edges, and a byte array with all constants.
#ifndef MSLITE_DELEGATE_OPENVINO_OPENVINO_IR_H
#define MSLITE_DELEGATE_OPENVINO_OPENVINO_IR_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mslite {
// An output of a layer.
struct OpenVinoValue {
  int32_t layer = -1;
  int32_t port = 0;
};

class OpenVinoIr {
 public:
  using Dims = std::vector<int64_t>;
  using Attributes = std::vector<std::pair<const char *, std::string>>;

  // Starts the layers of a node. Their names begin with the name of the node.
  void Begin(const std::string &node) { node_ = node; }
  // `type`: element type, such as "f32", "i32", "i64" or "boolean".
  OpenVinoValue Parameter(const char *type, const Dims &dims);
  OpenVinoValue Constant(const char *type, const Dims &dims, const void *contents, size_t bytes);
  // Writes a layer and returns its first output; further outputs have the following ports. `opset`: the operator set
  // that defines the layer, such as "opset1".
  OpenVinoValue Layer(const char *type, const char *opset, const std::vector<OpenVinoValue> &inputs,
                      const Attributes &attributes = {}, int32_t outputs = 1);
  void Result(OpenVinoValue value);

  std::string Text() const;
  std::vector<uint8_t> TakeWeights() { return std::move(weights_); }

 private:
  std::string node_ = "part";
  std::string layers_;
  std::string edges_;
  std::vector<uint8_t> weights_;
  int32_t count_ = 0;
};

// Formats a list as in attributes: "1,2,3".
std::string ListOf(const std::vector<int64_t> &numbers);
}  // namespace mslite

#endif
