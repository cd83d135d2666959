// Kernels of applications that run on an OpenCL device: their tensors there, what the wrapper does, and everything that
// goes wrong.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "include/api/model.h"
#include "include/mslite/inspect.h"
#include "include/registry/opencl_runtime_wrapper.h"
#include "include/registry/register_kernel.h"
#include "include/registry/register_kernel_interface.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT
using kernel::Kernel;
using registry::opencl::OpenCLRuntimeWrapper;

constexpr auto kFloat32 = DataType::kNumberTypeFloat32;
constexpr char kSource[] = R"(
__constant sampler_t at = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
__kernel void Scale(__read_only image2d_t x, __write_only image2d_t y, float scale) {
  const int2 place = (int2)(get_global_id(0), get_global_id(1));
  WRITE_IMAGE(y, place, scale * READ_IMAGE(x, at, place));
}
__kernel void Fill(__global float *y, float value) { y[get_global_id(0)] = value; }
)";

// Width and height of the image of a tensor.
std::array<size_t, 2> TexelsOf(const std::vector<int64_t> &shape) {
  const auto quarters = static_cast<size_t>(shape.empty() ? 1 : (shape.back() + 3) / 4);
  size_t beside = shape.size() > 2 ? static_cast<size_t>(shape[shape.size() - 2]) : 1;
  size_t rows = 1;
  for (size_t i = 0; i + (shape.size() > 2 ? 2 : 1) < shape.size(); ++i) rows *= static_cast<size_t>(shape[i]);
  return {beside * quarters, rows};
}

// What a test lets the kernel below do.
std::function<int(OpenCLRuntimeWrapper *, std::vector<MSTensor> *)> g_instead;
std::string g_options;

// 3 x, computed on the device.
class Scale : public Kernel {
 public:
  using Kernel::Kernel;
  int Prepare() override {
    std::vector<std::string> options;
    if (!g_options.empty()) options.push_back(g_options);
    Status status = opencl_.LoadSource("scale", kSource);
    if (status.IsOk()) status = opencl_.BuildKernel(&kernel_, "scale", "Scale", options);
    if (status.IsError()) throw std::runtime_error(status.GetErrDescription());
    return 0;
  }
  int ReSize() override { return 0; }
  int Execute() override {
    if (g_instead) return g_instead(&opencl_, &outputs_);
    const auto [width, height] = TexelsOf(outputs_[0].Shape());
    const bool is_set = opencl_.SetKernelArg(kernel_, 0, inputs_[0].MutableData()).IsOk() &&
                        opencl_.SetKernelArg(kernel_, 1, outputs_[0].MutableData()).IsOk() &&
                        opencl_.SetKernelArg(kernel_, 2, 3.0f).IsOk();
    if (!is_set) return 1;
    return opencl_.RunKernel(kernel_, cl::NDRange(width, height), cl::NullRange).IsOk() ? 0 : 2;
  }

 private:
  OpenCLRuntimeWrapper opencl_;
  cl::Kernel kernel_;
};

class SameShape : public kernel::KernelInterface {
 public:
  Status Infer(std::vector<MSTensor> *inputs, std::vector<MSTensor> *outputs, const schema::Primitive *) override {
    (*outputs)[0].SetDataType((*inputs)[0].DataType());
    (*outputs)[0].SetShape((*inputs)[0].Shape());
    return kSuccess;
  }
};

std::shared_ptr<Kernel> MakeScale(const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs,
                                  const schema::Primitive *primitive, const Context *context) {
  return std::make_shared<Scale>(inputs, outputs, primitive, context);
}
std::shared_ptr<kernel::KernelInterface> MakeRule() { return std::make_shared<SameShape>(); }

REGISTER_CUSTOM_KERNEL(GPU, Acme, kFloat32, TripledOnGpu, MakeScale)
REGISTER_CUSTOM_KERNEL(GPU, Acme, DataType::kNumberTypeInt64, TripledOnGpu, MakeScale)
REGISTER_CUSTOM_KERNEL_INTERFACE(Acme, TripledOnGpu, MakeRule)
REGISTER_KERNEL(GPU, Acme, kFloat32, schema::PrimitiveType_Sin, MakeScale)

// y = |tripled(-x)|: the custom node stands between two parts of the engine.
std::string TripledModel(const std::vector<int32_t> &dims, int32_t type = kFloat) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", dims, type), a = m.Value("a", dims, type), b = m.Value("b", dims, type);
  const uint32_t y = m.Value("y", dims, type);
  m.Node("neg", schema::CreateNeg(m.builder), {x}, {a});
  m.Node("mine", schema::CreateCustom(m.builder, m.builder.CreateString("TripledOnGpu")), {a}, {b});
  m.Node("abs", schema::CreateAbs(m.builder), {b}, {y});
  m.Graph({x}, {y}, {0, 1, 2});
  return m.Finish({x}, {y});
}

std::shared_ptr<Context> OnGpu(const std::string &provider = "") {
  auto context = std::make_shared<Context>();
  auto gpu = std::make_shared<GPUDeviceInfo>();
  gpu->SetProvider(provider);
  context->SetThreadNum(1);
  context->MutableDeviceInfo() = {gpu, std::make_shared<CPUDeviceInfo>()};
  return context;
}

Status Build(Model *model, const std::string &file, const std::shared_ptr<Context> &context = OnGpu()) {
  return model->Build(file.data(), file.size(), kMindIR_Lite, context);
}

// The outputs for x = 1, 2, 3 ...
Status Results(Model *model, std::vector<float> *results) {
  std::vector<MSTensor> inputs = model->GetInputs();
  auto *x = static_cast<float *>(inputs[0].MutableData());
  std::iota(x, x + inputs[0].ElementNum(), 1.0f);
  std::vector<MSTensor> outputs;
  if (const Status status = model->Predict(inputs, &outputs); status.IsError()) return status;
  const auto *y = static_cast<const float *>(outputs[0].Data().get());
  results->assign(y, y + outputs[0].ElementNum());
  return kSuccess;
}

std::vector<float> Tripled(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = 3.0f * static_cast<float>(i + 1);
  return values;
}

class OpenClKernel : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MSLITE_OPENCL_DEVICE", "Portable Computing Language", 1);
    setenv("MSLITE_DELEGATE_COSTS", "off", 1);
    setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 1);
    g_instead = nullptr;
    g_options.clear();
    OpenCLRuntimeWrapper opencl;
    if (opencl.GetAllocator() == nullptr) GTEST_SKIP() << "PoCL is not there";
  }
};

TEST_F(OpenClKernel, RunsBetweenPartsOfTheEngine) {
  for (const std::vector<int32_t> &dims : std::vector<std::vector<int32_t>>{
           {7}, {8}, {3, 5}, {2, 3, 6}, {2, 3, 4, 9}, {1, 2, 2, 8}, {2, 2, 3, 2, 5}, {1, 1, 1, 1, 1}}) {
    Model model;
    const Status status = Build(&model, TripledModel(dims));
    ASSERT_TRUE(status.IsOk()) << status.GetErrDescription();
    PlacementInfo info;
    ASSERT_TRUE(InspectPlacement(model, &info).IsOk());
    ASSERT_EQ(info.nodes.size(), 3u);
    EXPECT_EQ(info.nodes[1].engine, "Acme/GPU");
    EXPECT_EQ(info.nodes[1].reason, "");
    EXPECT_EQ(info.nodes[0].engine.rfind("OpenCL (", 0), 0u);
    EXPECT_EQ(info.nodes[2].engine, info.nodes[0].engine);
    EXPECT_EQ(info.nodes[2].part, 1);
    size_t count = 1;
    for (const int32_t dim : dims) count *= static_cast<size_t>(dim);
    std::vector<float> results;
    for (int turn = 0; turn < 2; ++turn) {
      ASSERT_TRUE(Results(&model, &results).IsOk());
      EXPECT_EQ(results, Tripled(count)) << dims.size();
    }
  }
}

// Behind a Custom node the engine goes by the shapes of the file, which hold for inputs as the file has them.
TEST_F(OpenClKernel, FollowsResize) {
  Model model;
  const std::vector<int64_t> declared = {2, 3, 4, 9};
  ASSERT_TRUE(Build(&model, TripledModel({2, 3, 4, 9})).IsOk());
  std::vector<float> results;
  for (const std::vector<int64_t> &shape : std::vector<std::vector<int64_t>>{{1, 2, 5, 3}, declared}) {
    const Status status = model.Resize(model.GetInputs(), {shape});
    ASSERT_TRUE(status.IsOk()) << status.GetErrDescription();
    ASSERT_TRUE(Results(&model, &results).IsOk());
    EXPECT_EQ(results, Tripled(static_cast<size_t>(shape[0] * shape[1] * shape[2] * shape[3])));
    PlacementInfo info;
    ASSERT_TRUE(InspectPlacement(model, &info).IsOk());
    EXPECT_EQ(info.nodes[0].part, 0);
    EXPECT_EQ(info.nodes[2].part, shape == declared ? 1 : -1);
    EXPECT_EQ(info.nodes[2].reason,
              shape == declared ? "" : "OpenCL: the shape of 'b' is unknown until the model runs");
  }
}

// As in MindSpore Lite, the device that names a provider is one of mslite's GPUs all the same.
TEST_F(OpenClKernel, ComesBeforeTheEngineWhereTheContextNamesItsProvider) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {4}), y = m.Value("y", {4});
  m.Node("sin", schema::CreateSin(m.builder), {x}, {y});
  m.Graph({x}, {y}, {0});
  const std::string file = m.Finish({x}, {y});
  std::vector<float> results;
  Model named;
  ASSERT_TRUE(Build(&named, file, OnGpu("Acme")).IsOk());
  ASSERT_TRUE(Results(&named, &results).IsOk());
  EXPECT_EQ(results, Tripled(4));
  Model unnamed;
  ASSERT_TRUE(Build(&unnamed, file, OnGpu()).IsOk());
  ASSERT_TRUE(Results(&unnamed, &results).IsOk());
  EXPECT_NEAR(results[1], 0.909297f, 1e-5f);
}

TEST_F(OpenClKernel, OutputsMayBeMemoryOfItsOwn) {
  const auto fill = [](const std::function<void *(Allocator *)> &memory, bool is_owned) {
    return [=](OpenCLRuntimeWrapper *opencl, std::vector<MSTensor> *outputs) {
      void *const place = memory(opencl->GetAllocator().get());
      if (place == nullptr) return 1;
      (*outputs)[0].SetData(place, is_owned);
      cl::Kernel kernel;
      if (opencl->BuildKernel(&kernel, "scale", "Fill").IsError()) return 2;
      if (opencl->SetKernelArg(kernel, 0, place).IsError() || opencl->SetKernelArg(kernel, 1, 6.0f).IsError()) return 3;
      return opencl->RunKernel(kernel, cl::NDRange(6), cl::NDRange(2)).IsOk() ? 0 : 4;
    };
  };
  g_instead = fill([](Allocator *allocator) { return allocator->Malloc(6 * sizeof(float)); }, true);
  Model model;
  ASSERT_TRUE(Build(&model, TripledModel({6})).IsOk());
  std::vector<float> results;
  for (int turn = 0; turn < 3; ++turn) {
    const Status status = Results(&model, &results);
    ASSERT_TRUE(status.IsOk()) << status.GetErrDescription();
    EXPECT_EQ(results, std::vector<float>(6, 6.0f));
  }
  g_instead = [](OpenCLRuntimeWrapper *opencl, std::vector<MSTensor> *outputs) {
    void *const image = opencl->GetAllocator()->Malloc(2, 1, kFloat32);
    std::vector<float> texels = {1, 2, 3, 4, 5, 6, 0, 0};
    (*outputs)[0].SetData(image);
    return opencl->WriteImage(image, texels.data()).IsOk() ? 0 : 1;
  };
  ASSERT_TRUE(Results(&model, &results).IsOk());
  EXPECT_EQ(results, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  // A buffer that is too small, an image of another size, and no memory of the device at all.
  const std::vector<std::pair<std::function<void *(Allocator *)>, std::string>> wrong = {
      {[](Allocator *allocator) { return allocator->Malloc(20); }, "a buffer of 20 bytes, but the tensor has 24"},
      {[](Allocator *allocator) { return allocator->Malloc(3, 2, kFloat32); }, "an image of 3 x 2 texels"},
  };
  for (const auto &[memory, reason] : wrong) {
    g_instead = [&memory = memory](OpenCLRuntimeWrapper *opencl, std::vector<MSTensor> *outputs) {
      (*outputs)[0].SetData(memory(opencl->GetAllocator().get()));
      return 0;
    };
    const Status status = Results(&model, &results);
    EXPECT_NE(status.GetErrDescription().find(reason), std::string::npos) << status.GetErrDescription();
    EXPECT_NE(status.GetErrDescription().find("'mine'"), std::string::npos) << "the node";
  }
  std::vector<float> elsewhere(6);
  g_instead = [&](OpenCLRuntimeWrapper *, std::vector<MSTensor> *outputs) {
    (*outputs)[0].SetData(elsewhere.data(), false);
    return 0;
  };
  EXPECT_NE(Results(&model, &results).GetErrDescription().find("names no memory of the device"), std::string::npos);
  g_instead = nullptr;
  ASSERT_TRUE(Results(&model, &results).IsOk()) << "the next run is none the worse";
  EXPECT_EQ(results, Tripled(6));
}

TEST_F(OpenClKernel, AFailureNamesTheNodeAndEndsTheRun) {
  Model model;
  ASSERT_TRUE(Build(&model, TripledModel({6})).IsOk());
  std::vector<float> results;
  const std::vector<std::pair<std::function<int(OpenCLRuntimeWrapper *, std::vector<MSTensor> *)>, std::string>>
      faults = {
          {[](OpenCLRuntimeWrapper *, std::vector<MSTensor> *) { return -1; }, "Execute failed with -1"},
          {[](OpenCLRuntimeWrapper *, std::vector<MSTensor> *) -> int {
             throw std::runtime_error("the device is gone");
           },
           "Execute threw an exception: the device is gone"},
          {[](OpenCLRuntimeWrapper *, std::vector<MSTensor> *outputs) {
             (*outputs)[0].SetShape({3});
             return 0;
           },
           "Execute left output 0 with shape [3]"},
      };
  for (const auto &[fault, reason] : faults) {
    g_instead = fault;
    const Status status = Results(&model, &results);
    EXPECT_NE(status.GetErrDescription().find("node 'mine'"), std::string::npos) << status.GetErrDescription();
    EXPECT_NE(status.GetErrDescription().find(reason), std::string::npos) << status.GetErrDescription();
    g_instead = nullptr;
    ASSERT_TRUE(Results(&model, &results).IsOk());
    EXPECT_EQ(results, Tripled(6));
  }
}

TEST_F(OpenClKernel, WrapperHasTheOriginalsFunctions) {
  OpenCLRuntimeWrapper opencl;
  EXPECT_GE(opencl.DeviceMaxWorkGroupSize(), 1u);
  EXPECT_GE(opencl.GetMaxImage2DWidth(), 2048u);
  EXPECT_GE(opencl.GetMaxImage2DHeight(), 2048u);
  opencl.GetImagePitchAlignment();
  const auto allocator = opencl.GetAllocator();
  void *buffer = allocator->Malloc(4 * sizeof(float));
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(allocator->SetRefCount(buffer, 2), 2);
  EXPECT_EQ(allocator->IncRefCount(buffer, 1), 3);
  EXPECT_EQ(allocator->DecRefCount(buffer, 3), 0);
  EXPECT_EQ(allocator->RefCount(buffer), 0);
  EXPECT_EQ(allocator->RefCount(&opencl), -1);
  auto *mapped = static_cast<float *>(opencl.MapBuffer(buffer, CL_MAP_WRITE));
  ASSERT_NE(mapped, nullptr);
  EXPECT_EQ(opencl.MapBuffer(buffer, CL_MAP_READ), nullptr) << "it is mapped";
  std::fill(mapped, mapped + 4, 5.0f);
  EXPECT_TRUE(opencl.UnmapBuffer(mapped).IsOk()) << "what MapBuffer gave";
  EXPECT_FALSE(opencl.UnmapBuffer(buffer).IsOk()) << "not mapped any more";
  cl::Kernel kernel;
  ASSERT_TRUE(opencl.LoadSource("own", kSource).IsOk());
  ASSERT_TRUE(opencl.BuildKernel(&kernel, "own", "Fill", {"-cl-mad-enable"}).IsOk());
  ASSERT_TRUE(opencl.SetKernelArg(kernel, 0, buffer).IsOk());
  ASSERT_TRUE(opencl.SetKernelArg(kernel, 1, 9.0f).IsOk());
  EXPECT_FALSE(opencl.SetKernelArg(kernel, 2, 9.0f).IsOk()) << "it has two arguments";
  cl::Event event;
  ASSERT_TRUE(opencl.RunKernel(kernel, cl::NDRange(2), cl::NDRange(1), nullptr, &event).IsOk());
  ASSERT_TRUE(opencl.SyncCommandQueue().IsOk());
  EXPECT_EQ(event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(), CL_COMPLETE);
  mapped = static_cast<float *>(opencl.MapBuffer(buffer, CL_MAP_READ));
  EXPECT_EQ(std::vector<float>(mapped, mapped + 4), (std::vector<float>{9, 9, 5, 5}));
  EXPECT_TRUE(opencl.UnmapBuffer(buffer).IsOk()) << "what MapBuffer got";
  EXPECT_FALSE(opencl.ReadImage(buffer, mapped).IsOk()) << "no image";
  allocator->Free(buffer);
  EXPECT_FALSE(opencl.SetKernelArg(kernel, 0, buffer).IsOk()) << "it is gone";
  EXPECT_EQ(allocator->Malloc(2, 2, DataType::kNumberTypeInt64), nullptr) << "there are no such texels";

  std::vector<float> texels(2 * 3 * 4);
  std::iota(texels.begin(), texels.end(), 0.0f);
  void *image = allocator->Malloc(2, 3, kFloat32);
  ASSERT_NE(image, nullptr);
  EXPECT_TRUE(opencl.WriteImage(image, texels.data()).IsOk());
  std::vector<float> back(texels.size());
  EXPECT_TRUE(opencl.ReadImage(image, back.data()).IsOk());
  EXPECT_EQ(back, texels);
  EXPECT_EQ(opencl.WriteImage(image, nullptr), kLiteNullptr);
  EXPECT_EQ(opencl.ReadImage(image, nullptr), kLiteNullptr);
  EXPECT_NE(opencl.MapBuffer(image, CL_MAP_READ), nullptr);
  EXPECT_TRUE(opencl.UnmapBuffer(image).IsOk());
  allocator->Free(image);
  allocator->Free(nullptr);
}

TEST_F(OpenClKernel, ProgramsThatDoNotCompileAreNamed) {
  OpenCLRuntimeWrapper opencl;
  cl::Kernel kernel;
  EXPECT_NE(
      opencl.BuildKernel(&kernel, "never loaded", "f").GetErrDescription().find("there is no program 'never loaded'"),
      std::string::npos);
  ASSERT_TRUE(opencl.LoadSource("broken", "__kernel void f() { strange; }").IsOk());
  const std::string said = opencl.BuildKernel(&kernel, "broken", "f").GetErrDescription();
  EXPECT_NE(said.find("program 'broken' does not compile"), std::string::npos) << said;
  EXPECT_NE(said.find("strange"), std::string::npos) << said;
  ASSERT_TRUE(opencl.LoadSource("broken", "__kernel void f() {}").IsOk());
  EXPECT_TRUE(opencl.BuildKernel(&kernel, "broken", "f").IsOk()) << "another source under the same name";
  EXPECT_NE(opencl.BuildKernel(&kernel, "broken", "g").GetErrDescription().find("kernel 'g' of program 'broken'"),
            std::string::npos);
  g_options = "-DWRITE_IMAGE=gone";
  Model model;
  const Status status = Build(&model, TripledModel({4}));
  EXPECT_NE(status.GetErrDescription().find("program 'scale' does not compile"), std::string::npos)
      << status.GetErrDescription();
  EXPECT_NE(status.GetErrDescription().find("'mine'"), std::string::npos) << status.GetErrDescription();
}

TEST_F(OpenClKernel, WithoutAGpuTheNodeCannotRun) {
  const auto reason_of = [](const std::shared_ptr<Context> &context) {
    Model model;
    return Build(&model, TripledModel({4}), context).GetErrDescription();
  };
  auto on_cpu = std::make_shared<Context>();
  on_cpu->MutableDeviceInfo() = {std::make_shared<CPUDeviceInfo>(), std::make_shared<GPUDeviceInfo>()};
  EXPECT_NE(reason_of(on_cpu).find("for the arch GPU, which cannot run: the context prefers no GPU to the CPU"),
            std::string::npos)
      << reason_of(on_cpu);
  auto textures = OnGpu();
  textures->MutableDeviceInfo()[0]->Cast<GPUDeviceInfo>()->SetEnableGLTexture(true);
  EXPECT_NE(reason_of(textures).find("does not support GL textures (SetEnableGLTexture)"), std::string::npos)
      << reason_of(textures);
  setenv("MSLITE_OPENCL_DEVICE", "there is none of this name", 1);
  EXPECT_NE(reason_of(OnGpu()).find("which cannot run: OpenCL: no device"), std::string::npos) << reason_of(OnGpu());
}

// int64 has no texels: the model says so when it is run.
TEST_F(OpenClKernel, TensorsThatImagesDoNotHoldAreRefused) {
  Model model;
  const std::string file = TripledModel({4}, static_cast<int32_t>(DataType::kNumberTypeInt64));
  Status status = Build(&model, file);
  ASSERT_TRUE(status.IsOk()) << status.GetErrDescription();
  std::vector<MSTensor> inputs = model.GetInputs();
  inputs[0].MutableData();
  std::vector<MSTensor> outputs;
  status = model.Predict(inputs, &outputs);
  EXPECT_NE(status.GetErrDescription().find("is no image of this device"), std::string::npos)
      << status.GetErrDescription();
}
}  // namespace
}  // namespace mslite::test
