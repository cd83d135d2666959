// Models in which convolutions are added to something, for the tests of what planning makes of them.
#ifndef MSLITE_TESTS_RESIDUAL_SUMS_H
#define MSLITE_TESTS_RESIDUAL_SUMS_H

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "include/api/model.h"
#include "include/mslite/inspect.h"
#include "model_builder.h"

namespace mslite::test {
inline const std::vector<int32_t> kImage = {1, 5, 6, 4};
constexpr size_t kImageSize = 120;
inline const std::vector<std::string> kFused = {"Conv2DAddFusion"};
inline const std::vector<std::string> kApart = {"Conv2DFusion", "AddFusion"};

inline std::vector<float> Wave(size_t count, int step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(static_cast<int>(i) * step % 37 - 18) / 8;
  return values;
}

struct ConvolutionOptions {
  bool has_bias = true;
  int64_t group = 1;
  schema::ActivationType activation = schema::ActivationType_NO_ACTIVATION;
  schema::QuantType quant = schema::QuantType_QUANT_NONE;
};

class SumBuilder : public ModelBuilder {
 public:
  uint32_t Image(const std::string &name, const std::vector<int32_t> &dims = kImage) { return Value(name, dims); }

  // 3 x 3, of 4 channels, which keeps the image's size. Gives the result.
  uint32_t Convolve(const std::string &name, uint32_t x, const ConvolutionOptions &options = {}) {
    const auto in = static_cast<int32_t>(4 / options.group);
    std::vector<uint32_t> inputs = {x, Floats(name + "_w", {4, 3, 3, in}, Wave(static_cast<size_t>(36 * in), 5))};
    if (options.has_bias) inputs.push_back(Floats(name + "_b", {4}, {0.5f, -1, 2, 0.25f}));
    const uint32_t y = Image(name + "_y");
    const auto list = [this](std::vector<int64_t> values) { return builder.CreateVector(values); };
    const auto kernel = list({3, 3}), stride = list({1, 1}), dilation = list({1, 1}), pads = list({1, 1, 1, 1});
    const auto op = schema::CreateConv2DFusion(builder, schema::Format_NHWC, kernel, stride, dilation,
                                               schema::PadMode_PAD, pads, 1, options.group, 4, 4, options.activation);
    nodes.push_back(QuantizedNode(name, op, inputs, {y}, options.quant));
    return y;
  }

  uint32_t Add(const std::string &name, uint32_t a, uint32_t b,
               schema::ActivationType activation = schema::ActivationType_NO_ACTIVATION,
               schema::QuantType quant = schema::QuantType_QUANT_NONE) {
    const uint32_t y = Image(name + "_y");
    nodes.push_back(QuantizedNode(name, schema::CreateAddFusion(builder, activation), {a, b}, {y}, quant));
    return y;
  }

  template <typename Table>
  uint32_t Call(const std::string &name, flatbuffers::Offset<Table> op, uint32_t x) {
    const uint32_t y = Image(name + "_y");
    nodes.push_back(Node(name, op, {x}, {y}));
    return y;
  }

  // With all nodes so far. Gives the file.
  std::string Main(const std::vector<uint32_t> &inputs, const std::vector<uint32_t> &outputs) {
    Graph(inputs, outputs, nodes);
    return Finish(inputs, outputs);
  }

  std::vector<uint32_t> nodes;
  uint32_t shown = 0;  // the convolution's result, where a test wants it as an output
};

// A built model, what its steps are, and what it computes.
class Planned {
 public:
  explicit Planned(const std::string &file, int threads = 1, int inter_op = 1, const std::string &provider = "") {
    auto context = std::make_shared<mindspore::Context>();
    context->SetThreadNum(threads);
    context->SetInterOpParallelNum(inter_op);
    auto device = std::make_shared<mindspore::CPUDeviceInfo>();
    device->SetProvider(provider);
    context->MutableDeviceInfo().push_back(device);
    const auto status = model.Build(file.data(), file.size(), mindspore::kMindIR_Lite, context);
    EXPECT_TRUE(status.IsOk()) << status.ToString();
  }

  std::vector<std::string> Operators() const {
    PlanInfo info;
    EXPECT_TRUE(InspectPlan(model, &info).IsOk());
    std::vector<std::string> names;
    for (const StepInfo &step : info.steps) names.push_back(step.op);
    return names;
  }

  // All outputs by name; inputs are waves of the shapes that the model has now.
  std::map<std::string, std::vector<float>> Run() {
    std::vector<mindspore::MSTensor> inputs = model.GetInputs(), outputs;
    int step = 7;
    for (mindspore::MSTensor &input : inputs) {
      const std::vector<float> values = Wave(static_cast<size_t>(input.ElementNum()), step += 4);
      std::copy(values.begin(), values.end(), static_cast<float *>(input.MutableData()));
    }
    const mindspore::MSKernelCallBack before = [](const std::vector<mindspore::MSTensor> &,
                                                  const std::vector<mindspore::MSTensor> &,
                                                  const mindspore::MSCallBackParam &) { return true; };
    const mindspore::MSKernelCallBack after = [this](const std::vector<mindspore::MSTensor> &,
                                                     const std::vector<mindspore::MSTensor> &written,
                                                     const mindspore::MSCallBackParam &call) {
      calls.push_back(call.node_name + " " + call.node_type + " " + written[0].Name());
      return true;
    };
    calls.clear();
    const auto status = watched ? model.Predict(inputs, &outputs, before, after) : model.Predict(inputs, &outputs);
    EXPECT_TRUE(status.IsOk()) << status.ToString();
    std::map<std::string, std::vector<float>> results;
    for (const mindspore::MSTensor &output : outputs) {
      const auto *data = static_cast<const float *>(output.Data().get());
      results[output.Name()] = {data, data + output.ElementNum()};
    }
    return results;
  }

  mindspore::Model model;
  bool watched = false;
  std::vector<std::string> calls;  // of the last run, where it was watched
};
}  // namespace mslite::test

#endif
