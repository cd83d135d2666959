// Writes OpenVINO's intermediate representation: a text (XML) that lists layers and the edges between them, and the
// bytes of all constants.
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

  // The layers that follow are of this node: their names begin with its.
  void Begin(const std::string &node) { node_ = node; }
  // `type`: "f32", "i32", "i64", "boolean".
  OpenVinoValue Parameter(const char *type, const Dims &dims);
  OpenVinoValue Constant(const char *type, const Dims &dims, const void *contents, size_t bytes);
  // The first output; the others are of the ports after it. `opset`: "opset1" and so on, which has this form of the
  // layer.
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

// "1,2,3", as attributes list numbers.
std::string ListOf(const std::vector<int64_t> &numbers);
}  // namespace mslite

#endif
