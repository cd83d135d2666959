// tensors MODEL.ms: memory of the caller for inputs and outputs, copies, strings, an allocator, a graph that is loaded
// first.
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "include/api/allocator.h"
#include "include/api/cell.h"
#include "include/api/context.h"
#include "include/api/graph.h"
#include "include/api/model.h"
#include "include/api/serialization.h"

namespace {
class CountingAllocator : public mindspore::Allocator {
 public:
  void *Malloc(size_t size) override {
    ++count_;
    return std::malloc(size);
  }
  void Free(void *ptr) override { std::free(ptr); }
  int RefCount(void *) override { return 1; }
  int SetRefCount(void *, int count) override { return count; }
  int DecRefCount(void *, int) override { return 0; }
  int IncRefCount(void *, int) override { return 1; }
  int count_ = 0;
};

bool Check(bool holds, const char *what) {
  if (!holds) std::cerr << what << std::endl;
  return holds;
}
}  // namespace

int main(int argc, const char **argv) {
  if (argc != 2) return 2;
  mindspore::Graph graph;
  if (mindspore::Serialization::Load(argv[1], mindspore::kMindIR_Lite, &graph) != mindspore::kSuccess) return 1;
  mindspore::GraphCell graph_cell(graph);
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Model model;
  if (model.UpdateConfig("common", {"enable_pre_inference", "false"}) != mindspore::kSuccess) return 1;
  if (model.Build(graph_cell, context) != mindspore::kSuccess) return 1;
  bool ok = Check(model.UpdateConfig("common", {"a", "b"}) == mindspore::kLiteError, "UpdateConfig after Build");

  auto input = model.GetInputs()[0];
  const auto output = model.GetOutputs()[0];
  std::vector<float> in(static_cast<size_t>(input.ElementNum()), 0.5f);
  std::vector<float> out(static_cast<size_t>(output.ElementNum()), 0.0f);
  // No copies: the model reads and writes the vectors.
  mindspore::MSTensor *user_input =
      mindspore::MSTensor::CreateRefTensor(input.Name(), mindspore::DataType::kNumberTypeFloat32, input.Shape(),
                                           in.data(), in.size() * sizeof(float), false);
  mindspore::MSTensor user_output(output);
  user_output.SetData(out.data(), false);
  std::vector<mindspore::MSTensor> outputs = {user_output};
  if (user_input == nullptr || model.Predict({*user_input}, &outputs) != mindspore::kSuccess) return 1;
  ok &= Check(outputs[0].MutableData() == out.data(), "the output is elsewhere");
  std::cout << outputs[0].Name();
  for (const float value : out) std::cout << ' ' << value;
  std::cout << std::endl;

  mindspore::MSTensor *clone = user_input->Clone();
  ok &= Check(clone != nullptr && clone->MutableData() != in.data() && clone->DataSize() == user_input->DataSize(),
              "Clone");
  mindspore::MSTensor::DestroyTensorPtr(clone);
  mindspore::MSTensor::DestroyTensorPtr(user_input);

  const std::vector<std::string> texts = {"edge", "", "inference"};
  mindspore::MSTensor *strings = mindspore::MSTensor::StringsToTensor("texts", texts);
  ok &= Check(strings != nullptr && mindspore::MSTensor::TensorToStrings(*strings) == texts, "strings");
  mindspore::MSTensor::DestroyTensorPtr(strings);

  ok &=
      Check(mindspore::MSTensor::CreateTensor("x", mindspore::DataType::kNumberTypeFloat32, {1}, nullptr, 4) == nullptr,
            "no data");
  mindspore::MSTensor empty(nullptr);
  ok &= Check(empty == nullptr, "a null tensor");

  auto allocator = std::make_shared<CountingAllocator>();
  mindspore::MSTensor allocated("y", mindspore::DataType::kNumberTypeInt32, {2, 3}, nullptr, 0);
  allocated.SetAllocator(allocator);
  ok &= Check(allocated.MutableData() != nullptr && allocator->count_ == 1, "the allocator");
  allocated.SetTensorName("z");
  allocated.SetFormat(mindspore::NCHW);
  allocated.SetQuantParams({mindspore::QuantParam{8, 0.5, 3, 0.0, 1.0}});
  ok &= Check(allocated.Name() == "z" && allocated.format() == mindspore::NCHW, "name and format");
  ok &= Check(allocated.QuantParams()[0].zero_point == 3, "records");

  mindspore::Buffer buffer("abc", 3);
  ok &= Check(buffer.Clone().DataSize() == 3 && buffer.ResizeData(5) && buffer.DataSize() == 5, "Buffer");
  ok &= Check(mindspore::Version().find("MindSpore Lite ") == 0, "the version");
  ok &= Check(mindspore::Model::CheckModelSupport(mindspore::kCPU, mindspore::kMindIR), "CheckModelSupport");
  ok &= Check(model.SetTrainMode(true) == mindspore::kLiteNotSupport, "the model is built for inference");
  return ok ? 0 : 1;
}
