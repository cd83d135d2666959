// Registered kernels: Custom operators of others, operators of the library by provider, and everything that goes wrong.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "include/api/model.h"
#include "include/api/model_parallel_runner.h"
#include "include/errorcode.h"
#include "include/mslite/inspect.h"
#include "include/mslite/plugin.h"
#include "include/registry/register_kernel.h"
#include "include/registry/register_kernel_interface.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT
using kernel::Kernel;
using kernel::KernelInterface;

// What goes wrong, and what happened.
struct Behavior {
  std::string fault;
  int prepared = 0;
  int resized = 0;
  int made = 0;
};
Behavior g_behavior;

void MaybeThrow(const char *where) {
  if (g_behavior.fault == std::string("throw in ") + where) throw std::runtime_error("no coffee");
  if (g_behavior.fault == std::string("throw 7 in ") + where) throw 7;
}
int Answer(const char *where) {
  MaybeThrow(where);
  return g_behavior.fault == std::string("fail in ") + where ? lite::RET_PARAM_INVALID : lite::RET_OK;
}

// y = scale * x + the first input's first constant, if there is a second input.
class ScaleKernel : public Kernel {
 public:
  using Kernel::Kernel;
  int Prepare() override {
    ++g_behavior.prepared;
    const std::string bytes = GetAttr("scale");
    if (bytes.size() == sizeof scale_) std::memcpy(&scale_, bytes.data(), sizeof scale_);
    if (inputs_.size() > 1) constant_ = static_cast<const float *>(inputs_[1].Data().get())[0];
    return Answer("Prepare");
  }
  int ReSize() override {
    ++g_behavior.resized;
    return Answer("ReSize");
  }
  int Execute() override {
    const auto *x = static_cast<const float *>(inputs_[0].Data().get());
    if (g_behavior.fault == "shape") outputs_[0].SetShape({1});
    if (g_behavior.fault == "count") outputs_.emplace_back();
    if (g_behavior.fault == "null") outputs_[0] = MSTensor(nullptr);
    if (g_behavior.fault == "own memory") {
      outputs_[0].SetData(std::calloc(static_cast<size_t>(outputs_[0].ElementNum()), sizeof(float)));
    }
    if (const int code = Answer("Execute"); code != 0) return code;
    if (g_behavior.fault == "null") return 0;
    auto *y = static_cast<float *>(outputs_[0].MutableData());
    for (int64_t i = 0; i < inputs_[0].ElementNum() && i < outputs_[0].ElementNum(); ++i) {
      y[i] = scale_ * x[i] + constant_;
    }
    return 0;
  }

 private:
  float scale_ = 1;
  float constant_ = 0;
};

class SameShape : public KernelInterface {
 public:
  Status Infer(std::vector<MSTensor> *inputs, std::vector<MSTensor> *outputs, const schema::Primitive *) override {
    MaybeThrow("Infer");
    if (g_behavior.fault == "fail in Infer") return Status(kLiteInputParamInvalid, "a shape that I do not like");
    if (g_behavior.fault == "two outputs") outputs->emplace_back();
    (*outputs)[0].SetDataType((*inputs)[0].DataType());
    (*outputs)[0].SetShape((*inputs)[0].Shape());
    if (g_behavior.fault == "rank") (*outputs)[0].SetShape(std::vector<int64_t>(9, 1));
    if (g_behavior.fault == "size") (*outputs)[0].SetShape({-7});
    if (g_behavior.fault == "huge") (*outputs)[0].SetShape(std::vector<int64_t>(8, 2000000000));
    if (g_behavior.fault == "type") (*outputs)[0].SetDataType(DataType::kTypeUnknown);
    return kSuccess;
  }
};

// As many numbers as the first one says: known when the data is there.
class CountKernel : public Kernel {
 public:
  using Kernel::Kernel;
  int Prepare() override { return 0; }
  int ReSize() override { return 0; }
  int Execute() override {
    auto *y = static_cast<float *>(outputs_[0].MutableData());
    for (int64_t i = 0; i < outputs_[0].ElementNum(); ++i) y[i] = static_cast<float>(i);
    return 0;
  }
};
class CountRule : public KernelInterface {
 public:
  Status Infer(std::vector<MSTensor> *inputs, std::vector<MSTensor> *outputs, const schema::Primitive *) override {
    (*outputs)[0].SetDataType((*inputs)[0].DataType());
    if ((*inputs)[0].Data() == nullptr) return kLiteInferInvalid;
    (*outputs)[0].SetShape({static_cast<int64_t>(*static_cast<const float *>((*inputs)[0].Data().get())), 1});
    return kSuccess;
  }
};

template <typename T>
std::shared_ptr<Kernel> Make(const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs,
                             const schema::Primitive *primitive, const Context *context) {
  ++g_behavior.made;
  MaybeThrow("creator");
  if (g_behavior.fault == "no kernel") return nullptr;
  return std::make_shared<T>(inputs, outputs, primitive, context);
}
template <typename T>
std::shared_ptr<KernelInterface> MakeRule() {
  return std::make_shared<T>();
}

const auto kFloat32 = DataType::kNumberTypeFloat32;
REGISTER_CUSTOM_KERNEL(CPU, Acme, kFloat32, Scale, Make<ScaleKernel>)
REGISTER_CUSTOM_KERNEL_INTERFACE(Acme, Scale, MakeRule<SameShape>)
REGISTER_CUSTOM_KERNEL(CPU, Acme, kFloat32, ScaleWithoutRule, Make<ScaleKernel>)
REGISTER_CUSTOM_KERNEL(CPU, Acme, kFloat32, Count, Make<CountKernel>)
REGISTER_CUSTOM_KERNEL_INTERFACE(Acme, Count, MakeRule<CountRule>)
REGISTER_KERNEL(CPU, Acme, kFloat32, schema::PrimitiveType_Abs, Make<ScaleKernel>)

std::shared_ptr<Context> ContextOf(const std::string &provider = "", const std::string &arch = "") {
  auto context = std::make_shared<Context>();
  auto device = std::make_shared<CPUDeviceInfo>();
  device->SetProvider(provider);
  device->SetProviderDevice(arch);
  context->MutableDeviceInfo().push_back(device);
  return context;
}

flatbuffers::Offset<schema::Custom> Custom(ModelBuilder *m, const char *type, float scale) {
  const std::vector<uint8_t> bytes(reinterpret_cast<uint8_t *>(&scale), reinterpret_cast<uint8_t *>(&scale + 1));
  const auto attribute =
      schema::CreateAttribute(m->builder, m->builder.CreateString("scale"), m->builder.CreateVector(bytes));
  return schema::CreateCustom(m->builder, m->builder.CreateString(type), m->builder.CreateVector({attribute}));
}

// y = |custom(x)|, with a constant as second input.
std::string CustomModel(const char *type, std::vector<int32_t> dims, std::vector<int32_t> declared,
                        int32_t data_type = kFloat) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", std::move(dims), data_type);
  const uint32_t c = m.Floats("c", {1}, {0.5f});
  const uint32_t a = m.Value("a", std::move(declared), data_type);
  const uint32_t y = m.Value("y", {}, data_type);
  m.Node("mine", Custom(&m, type, 3.0f), {x, c}, {a});
  m.Node("abs", schema::CreateAbs(m.builder), {a}, {y});
  m.Graph({x}, {y}, {0, 1});
  return m.Finish({x}, {y});
}

struct Registry : ::testing::Test {
  void SetUp() override { g_behavior = {}; }
  Status Build(const std::string &file, const std::shared_ptr<Context> &context = ContextOf()) {
    return model.Build(file.data(), file.size(), kMindIR_Lite, context);
  }
  std::vector<float> Run(const std::vector<int64_t> &shape, const std::vector<float> &x) {
    std::vector<MSTensor> outputs;
    status = model.Predict({MSTensor("x", kFloat32, shape, x.data(), x.size() * sizeof(float))}, &outputs);
    if (status.IsError()) return {};
    const auto *data = static_cast<const float *>(outputs[0].Data().get());
    return std::vector<float>(data, data + outputs[0].ElementNum());
  }
  // The one message names the node and the operator.
  static void ExpectError(const Status &failed, const std::string &reason) {
    ASSERT_TRUE(failed.IsError()) << reason;
    const std::string text = failed.GetErrDescription();
    EXPECT_NE(text.find("node 'mine' (Custom of type 'Scale')"), std::string::npos) << text;
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    EXPECT_NE(text.find("Acme"), std::string::npos) << text;
  }
  Model model;
  Status status;
};

TEST_F(Registry, CustomOperatorRuns) {
  ASSERT_TRUE(Build(CustomModel("Scale", {2, 2}, {2, 2})).IsOk());
  EXPECT_EQ(Run({2, 2}, {1, -2, 3, 0}), (std::vector<float>{3.5f, 5.5f, 9.5f, 0.5f}));
  EXPECT_EQ(g_behavior.made, 1);
  EXPECT_EQ(g_behavior.prepared, 1);
  EXPECT_EQ(g_behavior.resized, 0);
  PlanInfo info;
  ASSERT_TRUE(InspectPlan(model, &info).IsOk());
  EXPECT_EQ(info.steps[0].kernel, "Acme/CPU");
  EXPECT_EQ(info.steps[0].op, "Custom");
}

TEST_F(Registry, CallbacksSeeItsTensors) {
  ASSERT_TRUE(Build(CustomModel("Scale", {2}, {2})).IsOk());
  const std::vector<float> x = {1, 2};
  float seen = 0;
  const auto after = [&](const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs,
                         const MSCallBackParam &info) {
    if (info.node_name == "mine" && info.node_type == "Custom" && inputs.size() == 2) {
      seen = static_cast<const float *>(outputs[0].Data().get())[1];
    }
    return true;
  };
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(model.Predict({MSTensor("x", kFloat32, {2}, x.data(), 8)}, &outputs, nullptr, after).IsOk());
  EXPECT_EQ(seen, 6.5f);
}

TEST_F(Registry, ResizeAsksTheRuleAgainAndKeepsTheKernel) {
  ASSERT_TRUE(Build(CustomModel("Scale", {-1, 2}, {-1, 2})).IsOk());
  EXPECT_EQ(Run({1, 2}, {1, 2}), (std::vector<float>{3.5f, 6.5f}));
  EXPECT_EQ(Run({2, 2}, {1, 2, 3, 4}), (std::vector<float>{3.5f, 6.5f, 9.5f, 12.5f}));
  ASSERT_TRUE(model.Resize(model.GetInputs(), {{1, 2}}).IsOk());
  EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(Run({1, 2}, {5, 6}), (std::vector<float>{15.5f, 18.5f}));
  EXPECT_EQ(g_behavior.made, 1);
  EXPECT_EQ(g_behavior.prepared, 1);
  EXPECT_EQ(g_behavior.resized, 2);
}

TEST_F(Registry, WithoutARuleTheFileGivesTheShapes) {
  ASSERT_TRUE(Build(CustomModel("ScaleWithoutRule", {2}, {2})).IsOk());
  EXPECT_EQ(Run({2}, {1, 2}), (std::vector<float>{3.5f, 6.5f}));
  Model open;
  const std::string file = CustomModel("ScaleWithoutRule", {2}, {-1});
  const Status failed = open.Build(file.data(), file.size(), kMindIR_Lite, ContextOf());
  EXPECT_NE(failed.GetErrDescription().find("no KernelInterface is registered"), std::string::npos)
      << failed.GetErrDescription();
  Model other;  // the shapes of the file are those for the file's inputs only
  ASSERT_TRUE(other
                  .Build(CustomModel("ScaleWithoutRule", {2}, {2}).data(),
                         CustomModel("ScaleWithoutRule", {2}, {2}).size(), kMindIR_Lite, ContextOf())
                  .IsOk());
  EXPECT_TRUE(other.Resize(other.GetInputs(), {{3}}).IsError());
}

TEST_F(Registry, ShapesMayDependOnContents) {
  ASSERT_TRUE(Build(CustomModel("Count", {1}, {-1, 1})).IsOk());
  EXPECT_EQ(Run({1}, {3}), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(Run({1}, {5}), (std::vector<float>{0, 1, 2, 3, 4}));
  EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{5, 1}));
  EXPECT_TRUE(Run({1}, {0}).empty());
  EXPECT_TRUE(status.IsOk()) << status.ToString();
  EXPECT_TRUE(Run({1}, {-4}).empty());
  EXPECT_NE(status.GetErrDescription().find("invalid shape"), std::string::npos) << status.GetErrDescription();
}

TEST_F(Registry, OperatorsOfTheLibraryNeedTheProvider) {
  const std::string file = CustomModel("Scale", {2}, {2});
  ASSERT_TRUE(Build(file, ContextOf("Nobody")).IsOk());
  EXPECT_EQ(Run({2}, {-1, 1}), (std::vector<float>{2.5f, 3.5f}));  // Abs is the library's
  Model named;
  ASSERT_TRUE(named.Build(file.data(), file.size(), kMindIR_Lite, ContextOf("Acme", "CPU")).IsOk());
  const std::vector<float> x = {-1, 1};
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(named.Predict({MSTensor("x", kFloat32, {2}, x.data(), 8)}, &outputs).IsOk());
  EXPECT_EQ(static_cast<const float *>(outputs[0].Data().get())[0], -2.5f);  // Acme's "Abs" multiplies by 1
  Model elsewhere;
  ASSERT_TRUE(elsewhere.Build(file.data(), file.size(), kMindIR_Lite, ContextOf("Acme", "GPU")).IsOk());
  ASSERT_TRUE(elsewhere.Predict({MSTensor("x", kFloat32, {2}, x.data(), 8)}, &outputs).IsOk());
  EXPECT_EQ(static_cast<const float *>(outputs[0].Data().get())[0], 2.5f);
}

TEST_F(Registry, BranchesAndWorkersHaveKernelsOfTheirOwn) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {2}), a = m.Value("a", {2}), b = m.Value("b", {2}), y = m.Value("y", {2});
  m.Node("left", Custom(&m, "Scale", 3.0f), {x}, {a});
  m.Node("right", Custom(&m, "Scale", 4.0f), {x}, {b});
  m.Node("sum", schema::CreateAddFusion(m.builder), {a, b}, {y});
  m.Graph({x}, {y}, {0, 1, 2});
  const std::string file = m.Finish({x}, {y});
  const auto context = ContextOf();
  context->SetThreadNum(2);
  context->SetInterOpParallelNum(2);
  ASSERT_TRUE(Build(file, context).IsOk());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Run({2}, {1, 2}), (std::vector<float>{7, 14}));
  EXPECT_EQ(g_behavior.made, 2);

  const std::string path = ::testing::TempDir() + "/registry_test.ms";
  std::ofstream(path, std::ios::binary) << file;
  auto config = std::make_shared<RunnerConfig>();
  config->SetContext(ContextOf());
  config->SetWorkersNum(2);
  ModelParallelRunner runner;
  ASSERT_TRUE(runner.Init(path, config).IsOk());
  EXPECT_EQ(g_behavior.made, 6);
  const std::vector<float> values = {1, 2};
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(runner.Predict({MSTensor("x", kFloat32, {2}, values.data(), 8)}, &outputs).IsOk());
  EXPECT_EQ(static_cast<const float *>(outputs[0].Data().get())[1], 14.0f);
}

TEST_F(Registry, UnknownTypesAreNamed) {
  const Status unknown = Build(CustomModel("Nothing", {2}, {2}));
  EXPECT_NE(unknown.GetErrDescription().find("Custom of type 'Nothing'"), std::string::npos);
  EXPECT_NE(unknown.GetErrDescription().find("no kernel is registered"), std::string::npos)
      << unknown.GetErrDescription();
  const Status half = Build(CustomModel("Scale", {2}, {2}, 34));
  EXPECT_NE(half.GetErrDescription().find("no kernel is registered for its input types: int32"), std::string::npos)
      << half.GetErrDescription();
}

TEST_F(Registry, FailuresWhileBuildingAreOneMessage) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"throw in creator", "its creator threw an exception: no coffee"},
      {"no kernel", "returned no kernel"},
      {"throw in Infer", "Infer threw an exception: no coffee"},
      {"throw 7 in Infer", "Infer threw an exception"},
      {"fail in Infer", "Infer failed with -600 (a shape that I do not like)"},
      {"two outputs", "Infer returned 2 outputs, but the node has 1"},
      {"rank", "invalid shape"},
      {"size", "invalid shape"},
      {"type", "a type without a fixed size"},
      {"fail in Prepare", "Prepare failed with -3 (Invalid parameter.)"},
      {"throw in Prepare", "Prepare threw an exception: no coffee"},
      {"throw 7 in Prepare", "Prepare threw an exception"},
  };
  for (const auto &[fault, reason] : cases) {
    g_behavior.fault = fault;
    Model fresh;
    const std::string file = CustomModel("Scale", {2}, {2});
    ExpectError(fresh.Build(file.data(), file.size(), kMindIR_Lite, ContextOf()), reason);
  }
  g_behavior.fault = "huge";
  EXPECT_TRUE(Build(CustomModel("Scale", {2}, {2})).IsError());
}

TEST_F(Registry, FailuresWhileRunningAreOneMessageAndTheModelGoesOn) {
  ASSERT_TRUE(Build(CustomModel("Scale", {-1, 2}, {-1, 2})).IsOk());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"fail in Execute", "Execute failed with -3"},
      {"throw in Execute", "Execute threw an exception: no coffee"},
      {"throw 7 in Execute", "Execute threw an exception"},
      {"shape", "but Infer returned float32[1,2]"},
  };
  for (const auto &[fault, reason] : cases) {
    g_behavior.fault = fault;
    Run({1, 2}, {1, 2});
    ExpectError(status, reason);
    g_behavior.fault = "";
    EXPECT_EQ(Run({1, 2}, {1, 2}), (std::vector<float>{3.5f, 6.5f})) << fault;
  }
  g_behavior.fault = "fail in ReSize";
  EXPECT_TRUE(Run({3, 2}, {1, 2, 3, 4, 5, 6}).empty());
  ExpectError(status, "ReSize failed with -3");
  g_behavior.fault = "own memory";
  EXPECT_EQ(Run({1, 2}, {1, 2}), (std::vector<float>{3.5f, 6.5f}));
  for (const char *fault : {"count", "null"}) {
    g_behavior.fault = fault;
    Run({1, 2}, {1, 2});
    ExpectError(status, fault == std::string("count") ? "left 2 outputs" : "left 2 outputs where the node has 1");
  }
}

TEST(RegisterKernel, RefusesWhatMakesNoSense) {
  using registry::RegisterKernel;
  using registry::RegisterKernelInterface;
  const registry::CreateKernel creator = Make<ScaleKernel>;
  EXPECT_TRUE(RegisterKernel::RegCustomKernel("CPU", "", kFloat32, "X", creator).IsError());
  EXPECT_TRUE(RegisterKernel::RegCustomKernel("CPU", "P", kFloat32, "", creator).IsError());
  EXPECT_TRUE(RegisterKernel::RegCustomKernel("CPU", "P", kFloat32, "X", nullptr).IsError());
  EXPECT_TRUE(RegisterKernel::RegKernel("CPU", "P", DataType::kInvalidType, 5, creator).IsError());
  EXPECT_TRUE(RegisterKernel::RegKernel("CPU", "P", kFloat32, 4711, creator).IsError());
  EXPECT_TRUE(RegisterKernelInterface::Reg("P", -1, MakeRule<SameShape>).IsError());
  EXPECT_TRUE(RegisterKernelInterface::CustomReg("P", "X", nullptr).IsError());
  registry::KernelDesc desc = {kFloat32, schema::PrimitiveType_Abs, "", "Acme"};
  EXPECT_TRUE(RegisterKernel::GetCreator(nullptr, &desc));
  EXPECT_EQ(desc.arch, "CPU");
  desc.data_type = DataType::kNumberTypeInt8;
  EXPECT_FALSE(RegisterKernel::GetCreator(nullptr, &desc));
  EXPECT_EQ(RegisterKernelInterface::GetKernelInterface("Acme", nullptr), nullptr);
}

TEST(LoadPlugin, SaysWhatIsWrong) {
  const Status missing = LoadPlugin("there/is/no/plugin.so");
  EXPECT_EQ(missing, kLiteFileError);
  EXPECT_NE(missing.GetErrDescription().find("plug-in 'there/is/no/plugin.so' cannot be loaded"), std::string::npos);
}
}  // namespace
}  // namespace mslite::test
