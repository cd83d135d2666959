// Delegates: what they are offered, what they take, and everything that goes wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <stdexcept>

#include "elementwise_delegate.h"
#include "include/api/model.h"
#include "include/api/model_parallel_runner.h"
#include "include/mslite/delegate.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT
using kernel::Kernel;

// Does what a test says.
class Scripted : public Delegate {
 public:
  using Action = std::function<Status(LiteDelegateGraph *)>;
  explicit Scripted(Action action, Status init = kSuccess) : action_(std::move(action)), init_(std::move(init)) {}
  Status Init() override { return init_; }
  Status Build(LiteDelegateGraph *model) override { return action_(model); }

 private:
  Action action_;
  Status init_;
};

// Fills its outputs with a number.
class Filled : public Kernel {
 public:
  Filled(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs, int *living = nullptr)
      : Kernel(std::move(inputs), std::move(outputs), nullptr, nullptr), living_(living) {
    if (living_ != nullptr) ++*living_;
  }
  ~Filled() override {
    if (living_ != nullptr) --*living_;
  }
  int Prepare() override { return ++prepared, fault == "Prepare" ? -1 : 0; }
  int ReSize() override { return ++resized, fault == "ReSize" ? -1 : 0; }
  int Execute() override {
    if (fault == "Execute") throw std::runtime_error("the device is gone");
    if (fault == "number") return static_cast<int>(kLiteMemoryFailed);
    if (fault == "thrown number") throw 7;
    if (fault == "shape") outputs_[0].SetShape({1});
    if (fault == "type") outputs_[0].SetDataType(DataType::kNumberTypeInt32);
    if (fault == "null") outputs_[0] = MSTensor(nullptr);
    if (fault == "count") outputs_.clear();
    if (fault == "data") outputs_[0].SetData(nullptr, false);
    if (outputs_.empty() || outputs_[0] == nullptr || fault == "data") return 0;
    auto *values = static_cast<float *>(outputs_[0].MutableData());
    for (int64_t i = 0; i < outputs_[0].ElementNum(); ++i) values[i] = 7.0f;
    return 0;
  }

  std::string fault;
  int prepared = 0;
  int resized = 0;

 private:
  int *living_;
};

std::shared_ptr<Context> ContextOf(const std::shared_ptr<AbstractDelegate> &delegate) {
  auto context = std::make_shared<Context>();
  context->SetThreadNum(2);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  context->set_delegate(delegate);
  return context;
}

Status Build(Model *model, const std::string &file, const std::shared_ptr<AbstractDelegate> &delegate) {
  return model->Build(file.data(), file.size(), kMindIR_Lite, ContextOf(delegate));
}

std::vector<float> Outputs(Model *model, float scale = 1.0f) {
  auto inputs = model->GetInputs();
  for (auto &input : inputs) {
    auto *data = static_cast<float *>(input.MutableData());
    for (int64_t i = 0; i < input.ElementNum(); ++i) data[i] = scale * std::sin(static_cast<float>(i));
  }
  std::vector<MSTensor> outputs;
  const Status status = model->Predict(inputs, &outputs);
  EXPECT_TRUE(status.IsOk()) << status.GetErrDescription();
  if (status.IsError()) return {};
  const auto *data = static_cast<const float *>(outputs[0].Data().get());
  return {data, data + outputs[0].ElementNum()};
}

std::vector<float> OnCpu(const std::string &file, float scale = 1.0f) {
  Model model;
  EXPECT_TRUE(Build(&model, file, nullptr).IsOk());
  return Outputs(&model, scale);
}

// x -> abs -> sqrt -> neg, and abs -> neg2; y = neg + neg2: the engine has no square root.
std::string BranchedModel(std::vector<int32_t> dims = {3, 5}) {
  ModelBuilder model;
  const uint32_t x = model.Value("x", dims);
  std::vector<uint32_t> values;
  for (const char *name : {"a", "s", "n", "m", "y"}) values.push_back(model.Value(name, dims));
  model.Node("abs", schema::CreateAbs(model.builder), {x}, {values[0]});
  model.Node("sqrt", schema::CreateSqrt(model.builder), {values[0]}, {values[1]});
  model.Node("neg", schema::CreateNeg(model.builder), {values[1]}, {values[2]});
  model.Node("neg2", schema::CreateNeg(model.builder), {values[0]}, {values[3]});
  model.Node("add", schema::CreateAddFusion(model.builder), {values[2], values[3]}, {values[4]});
  model.Graph({x}, {values[4]}, {0, 1, 2, 3, 4});
  return model.Finish({x}, {values[4]});
}

TEST(Delegate, TakesAWholeModel) {
  const std::string file = SmallModel();
  const auto delegate = std::make_shared<ElementwiseDelegate>();
  Model model;
  ASSERT_TRUE(Build(&model, file, delegate).IsOk());
  EXPECT_EQ(delegate->kernels_taken(), 4);
  EXPECT_EQ(delegate->subgraphs(), 1);
  EXPECT_EQ(Outputs(&model), OnCpu(file));
  EXPECT_EQ(Outputs(&model, 3.0f), OnCpu(file, 3.0f));
}

// -x, whatever the shape is.
class Negated : public Kernel {
 public:
  using Kernel::Kernel;
  int Prepare() override { return 0; }
  int ReSize() override { return 0; }
  int Execute() override {
    const auto *x = static_cast<const float *>(inputs_[0].Data().get());
    auto *y = static_cast<float *>(outputs_[0].MutableData());
    for (int64_t i = 0; i < inputs_[0].ElementNum(); ++i) y[i] = -x[i];
    return 0;
  }
};

// Open sizes are offered as they are, and again when they are known; from then on, kernels follow.
TEST(Delegate, FollowsResize) {
  std::set<int64_t> offered;
  const auto delegate = std::make_shared<Scripted>([&](LiteDelegateGraph *model) {
    const auto is_negation = [](Kernel *kernel) { return kernel->type() == schema::PrimitiveType_Neg; };
    for (const KernelRange range : SupportedRanges(model, is_negation)) {
      const Border border = BorderOf(model, range);
      offered.insert(border.inputs[0].Shape()[0]);
      const auto begin = model->BeginKernelIterator() + static_cast<ptrdiff_t>(range.begin);
      model->Replace(begin, begin + 1, new Negated(border.inputs, border.outputs, nullptr, nullptr));
    }
    return kSuccess;
  });
  Model model;
  ASSERT_TRUE(Build(&model, BranchedModel({-1, 5}), delegate).IsOk());
  for (const int64_t rows : {2, 7, 2}) {
    ASSERT_TRUE(model.Resize(model.GetInputs(), {{rows, 5}}).IsOk());
    EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{rows, 5}));
    EXPECT_EQ(Outputs(&model), OnCpu(BranchedModel({static_cast<int32_t>(rows), 5})));
  }
  EXPECT_EQ(offered, (std::set<int64_t>{-1, 2}));
}

TEST(Delegate, SubGraphsAreConvexAndAsLargeAsPossible) {
  const std::string file = BranchedModel();
  std::vector<std::vector<std::string>> names;
  const auto delegate = std::make_shared<Scripted>([&](LiteDelegateGraph *model) {
    const auto supports = [](Kernel *kernel) { return kernel->name() != "sqrt"; };
    for (const KernelRange range : SupportedRanges(model, supports)) {
      names.emplace_back();
      for (size_t i = range.begin; i < range.end; ++i) names.back().push_back((*model->nodes())[i]->name());
      const Border border = BorderOf(model, range);
      for (const MSTensor &tensor : border.inputs) names.back().push_back("in " + tensor.Name());
      for (const MSTensor &tensor : border.outputs) names.back().push_back("out " + tensor.Name());
    }
    return kSuccess;
  });
  Model model;
  ASSERT_TRUE(Build(&model, file, delegate).IsOk());
  // All four would read what `sqrt` makes of their own result.
  EXPECT_EQ(names, (std::vector<std::vector<std::string>>{{"neg", "add", "in s", "in m", "out y"},
                                                          {"abs", "neg2", "in x", "out a", "out m"}}));
  EXPECT_EQ(Outputs(&model), OnCpu(file)) << "another order of the kernels";
}

TEST(Delegate, WhatIsNotConnectedIsNotOneSubGraph) {
  ModelBuilder builder;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  for (const int32_t size : {2, 7}) {
    const std::string suffix = std::to_string(size);
    const uint32_t x = builder.Value("x" + suffix, {size});
    const uint32_t a = builder.Value("a" + suffix, {size});
    const uint32_t y = builder.Value("y" + suffix, {size});
    builder.Node("abs" + suffix, schema::CreateAbs(builder.builder), {x}, {a});
    builder.Node("neg" + suffix, schema::CreateNeg(builder.builder), {a}, {y});
    inputs.push_back(x);
    outputs.push_back(y);
  }
  builder.Graph(inputs, outputs, {0, 2, 1, 3});
  const std::string file = builder.Finish(inputs, outputs);
  const auto delegate = std::make_shared<ElementwiseDelegate>();
  Model model;
  ASSERT_TRUE(Build(&model, file, delegate).IsOk());
  EXPECT_EQ(delegate->kernels_taken(), 4);
  EXPECT_EQ(delegate->subgraphs(), 2);
  EXPECT_EQ(Outputs(&model), OnCpu(file));
}

TEST(Delegate, RangesOfRandomGraphsCanRun) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<MSTensor> tensors = {MSTensor("x", DataType::kNumberTypeFloat32, {1}, nullptr, 0)};
    std::vector<std::unique_ptr<Kernel>> owned;
    std::vector<Kernel *> kernels;
    std::set<Kernel *> supported;
    for (int i = 0; i < 14; ++i) {
      const std::vector<MSTensor> inputs = {tensors[random() % tensors.size()], tensors[random() % tensors.size()]};
      tensors.emplace_back("t" + std::to_string(i), DataType::kNumberTypeFloat32, std::vector<int64_t>{1}, nullptr, 0);
      owned.push_back(std::make_unique<Filled>(inputs, std::vector<MSTensor>{tensors.back()}));
      kernels.push_back(owned.back().get());
      if (random() % 3 != 0) supported.insert(kernels.back());
    }
    LiteDelegateGraph model(&kernels, {tensors[0]}, {tensors.back()}, {}, SCHEMA_CUR);
    const auto ranges = SupportedRanges(&model, [&](Kernel *kernel) { return supported.count(kernel) != 0; });
    EXPECT_EQ(std::set<Kernel *>(kernels.begin(), kernels.end()).size(), owned.size());
    std::set<std::string> ready = {"x"};
    for (Kernel *kernel : kernels) {
      for (const MSTensor &input : kernel->inputs()) EXPECT_EQ(ready.count(input.Name()), 1u);
      ready.insert(kernel->outputs()[0].Name());
    }
    std::set<Kernel *> found;
    size_t behind = kernels.size();
    for (const KernelRange range : ranges) {
      EXPECT_LT(range.begin, range.end);
      EXPECT_LE(range.end, behind) << "last first";
      behind = range.begin;
      found.insert(kernels.begin() + static_cast<ptrdiff_t>(range.begin),
                   kernels.begin() + static_cast<ptrdiff_t>(range.end));
    }
    EXPECT_EQ(found, supported);
  }
}

TEST(Delegate, SeesTheFile) {
  const auto delegate = std::make_shared<Scripted>([&](LiteDelegateGraph *model) {
    EXPECT_EQ(model->nodes()->size(), 4u);
    EXPECT_EQ(model->inputs()[0].Name(), "x");
    EXPECT_EQ(model->outputs()[0].Shape(), (std::vector<int64_t>{4, 300}));
    EXPECT_EQ(model->GetVersion(), SCHEMA_CUR);
    Kernel *twice = (*model->nodes())[1];
    EXPECT_EQ(twice->name(), "double");
    EXPECT_EQ(twice->type(), schema::PrimitiveType_MulFusion);
    EXPECT_EQ(model->GetPrimitive(twice), twice->primitive());
    EXPECT_EQ(model->GetPrimitive(nullptr), nullptr);
    EXPECT_TRUE(twice->inputs()[1].IsConst());
    EXPECT_EQ(*static_cast<const float *>(twice->inputs()[1].Data().get()), 2.0f);
    EXPECT_EQ(twice->inputs()[0], (*model->nodes())[0]->outputs()[0]) << "one tensor, one object";
    EXPECT_NE(twice->Execute(), 0) << "it is the library's to run";
    return kSuccess;
  });
  Model model;
  ASSERT_TRUE(Build(&model, SmallModel(), delegate).IsOk());
  EXPECT_EQ(Outputs(&model), OnCpu(SmallModel()));
}

// Replaces the kernels [begin, end) of SmallModel by one that fills its outputs.
std::shared_ptr<Delegate> Filling(size_t begin, size_t end, const std::string &fault = "", Filled **made = nullptr,
                                  int *living = nullptr) {
  return std::make_shared<Scripted>([=](LiteDelegateGraph *model) {
    const Border border = BorderOf(model, {begin, end});
    auto *kernel = new Filled(border.inputs, border.outputs, living);
    kernel->fault = fault;
    if (made != nullptr) *made = kernel;
    const auto first = model->BeginKernelIterator();
    const auto next =
        model->Replace(first + static_cast<ptrdiff_t>(begin), first + static_cast<ptrdiff_t>(end), kernel);
    EXPECT_EQ(next - model->BeginKernelIterator(), static_cast<ptrdiff_t>(begin) + 1);
    return kSuccess;
  });
}

TEST(Delegate, KernelsArePreparedOnceAndDeletedWithTheModel) {
  int living = 0;
  Filled *kernel = nullptr;
  {
    Model model;
    ASSERT_TRUE(Build(&model, SmallModel(), Filling(0, 2, "", &kernel, &living)).IsOk());
    EXPECT_EQ(kernel->prepared, 1);
    const std::vector<float> results = Outputs(&model);
    EXPECT_FLOAT_EQ(results[0], 7.0f) << "relu(7 + 0)";
    ASSERT_TRUE(model.Resize(model.GetInputs(), {{2, 300}}).IsOk());
    EXPECT_EQ(kernel->resized, 1);
    EXPECT_EQ(Outputs(&model).size(), 600u);
    EXPECT_EQ(kernel->prepared, 1);
    EXPECT_EQ(living, 1);
  }
  EXPECT_EQ(living, 0);
}

TEST(Delegate, WithoutAnEngineTheCpuRuns) {
  const auto absent = std::make_shared<Scripted>([](LiteDelegateGraph *) { return Status(kLiteError); },
                                                 Status(kLiteNotSupport, "no such chip"));
  Model model;
  ASSERT_TRUE(Build(&model, SmallModel(), absent).IsOk());
  EXPECT_EQ(Outputs(&model), OnCpu(SmallModel()));
}

// A delegate that does `action`, and what the build says.
void ExpectRefused(const Scripted::Action &action, const std::string &reason) {
  Model model;
  const Status status = Build(&model, SmallModel(), std::make_shared<Scripted>(action));
  EXPECT_TRUE(status.IsError()) << reason;
  EXPECT_NE(status.GetErrDescription().find(reason), std::string::npos) << status.GetErrDescription();
  EXPECT_TRUE(Build(&model, SmallModel(), nullptr).IsOk()) << "the model is as it was";
}

TEST(Delegate, WhatCannotRunIsRefusedByName) {
  ExpectRefused([](LiteDelegateGraph *) { return Status(kLiteMemoryFailed, "device memory is full"); },
                "device memory is full");
  ExpectRefused([](LiteDelegateGraph *) -> Status { throw std::runtime_error("driver too old"); }, "driver too old");
  ExpectRefused(
      [](LiteDelegateGraph *model) {
        model->nodes()->pop_back();
        return kSuccess;
      },
      "left no kernel that produces model output 'y'");
  ExpectRefused(
      [](LiteDelegateGraph *model) {
        model->nodes()->erase(model->nodes()->begin());
        return kSuccess;
      },
      "that produces its input 'a'");
  ExpectRefused(
      [](LiteDelegateGraph *model) {
        std::swap(model->nodes()->front(), model->nodes()->back());
        return kSuccess;
      },
      "that produces its input 'c'");
  ExpectRefused(
      [](LiteDelegateGraph *model) {
        model->nodes()->push_back(nullptr);
        return kSuccess;
      },
      "a null pointer");
  ExpectRefused(
      [](LiteDelegateGraph *model) {
        model->nodes()->push_back(model->nodes()->front());
        return kSuccess;
      },
      "twice");
  const auto replace = [](std::vector<MSTensor> inputs, std::vector<MSTensor> outputs) {
    return [=](LiteDelegateGraph *model) {
      model->Replace(model->BeginKernelIterator(), model->EndKernelIterator(), new Filled(inputs, outputs));
      return kSuccess;
    };
  };
  const MSTensor stranger("stranger", DataType::kNumberTypeFloat32, {1}, nullptr, 0);
  ExpectRefused(replace({}, {stranger}), "'stranger', which the model does not have");
  ExpectRefused(replace({}, {MSTensor(nullptr)}), "a null tensor");
  ExpectRefused(replace({}, {}), "without outputs");
  ExpectRefused(
      [](LiteDelegateGraph *model) {
        const std::vector<MSTensor> outputs = model->outputs();
        model->Replace(model->BeginKernelIterator(), model->EndKernelIterator(), new Filled({}, outputs));
        return kSuccess;
      },
      "need tensor 'x', which is not an input of the kernel");
}

TEST(Delegate, EachTensorHasOneKernel) {
  ExpectRefused(
      [](LiteDelegateGraph *model) {
        const std::vector<MSTensor> x = model->inputs();
        model->Replace(model->BeginKernelIterator(), model->BeginKernelIterator() + 1, new Filled(x, x));
        return kSuccess;
      },
      "with output 'x', which no replaced kernel");
  ExpectRefused(
      [](LiteDelegateGraph *model) {
        const std::vector<MSTensor> a = (*model->nodes())[0]->outputs();
        const auto next = model->Replace(model->BeginKernelIterator(), model->BeginKernelIterator() + 1,
                                         new Filled(model->inputs(), a));
        model->nodes()->insert(next, new Filled(model->inputs(), a));
        return kSuccess;
      },
      "another kernel of the delegate");
  const auto delegate = std::make_shared<Scripted>([](LiteDelegateGraph *model) {
    model->nodes()->pop_back();
    return kSuccess;
  });
  const std::string loop = LoopModel(true);
  Model model;
  const Status status = Build(&model, loop, delegate);
  EXPECT_NE(status.GetErrDescription().find("which delegates cannot replace"), std::string::npos)
      << status.GetErrDescription();
}

TEST(Delegate, TensorsMayBeOtherObjectsOfTheSameName) {
  const auto delegate = std::make_shared<Scripted>([](LiteDelegateGraph *model) {
    const MSTensor x("x", DataType::kNumberTypeFloat32, {4, 300}, nullptr, 0);
    const MSTensor y("y", DataType::kNumberTypeFloat32, {4, 300}, nullptr, 0);
    model->Replace(model->BeginKernelIterator(), model->EndKernelIterator(), new Filled({x}, {y}));
    return kSuccess;
  });
  Model model;
  ASSERT_TRUE(Build(&model, SmallModel(), delegate).IsOk());
  EXPECT_EQ(Outputs(&model), std::vector<float>(1200, 7.0f));
}

TEST(Delegate, FaultsOfKernelsNameTheNode) {
  Model unprepared;
  const Status prepared = Build(&unprepared, SmallModel(), Filling(1, 3, "Prepare"));
  EXPECT_NE(prepared.GetErrDescription().find("the delegate's kernel: Prepare failed"), std::string::npos)
      << prepared.GetErrDescription();
  // The kernel is in the middle: nodes run before it, and behind it.
  const std::vector<std::pair<const char *, const char *>> faults = {
      {"Execute", "Execute threw an exception: the device is gone"},
      {"number", "Execute failed with -6 (Out of memory.)"},
      {"thrown number", "Execute threw an exception"},
      {"shape", "Execute left output 0 with shape [1] and type"},
      {"type", "and type int32, but Infer returned"},
      {"null", "Execute left output 0 as a null tensor"},
      {"count", "Execute left 0 outputs where the node has 1"},
      {"data", "Execute left output 0 without data"},
  };
  for (const auto &[fault, reason] : faults) {
    Filled *kernel = nullptr;
    Model model;
    ASSERT_TRUE(Build(&model, SmallModel(), Filling(1, 3, "", &kernel)).IsOk());
    const std::vector<float> before = Outputs(&model);
    const std::vector<MSTensor> tensors = kernel->outputs();
    kernel->fault = fault;
    std::vector<MSTensor> outputs;
    const Status status = model.Predict(model.GetInputs(), &outputs);
    EXPECT_TRUE(status.IsError()) << fault;
    EXPECT_NE(status.GetErrDescription().find("the delegate's kernel: Execute"), std::string::npos)
        << status.GetErrDescription();
    EXPECT_NE(status.GetErrDescription().find(reason), std::string::npos) << status.GetErrDescription();
    kernel->fault.clear();
    kernel->set_outputs(tensors);
    EXPECT_EQ(Outputs(&model), before) << "the next run, after " << fault;
  }
}

TEST(Delegate, AResizeThatFailsLeavesTheModelAsItWas) {
  Filled *kernel = nullptr;
  Model model;
  ASSERT_TRUE(Build(&model, SmallModel(), Filling(1, 3, "", &kernel)).IsOk());
  const std::vector<float> before = Outputs(&model);
  kernel->fault = "ReSize";
  const Status status = model.Resize(model.GetInputs(), {{2, 300}});
  EXPECT_NE(status.GetErrDescription().find("the delegate's kernel: ReSize failed"), std::string::npos)
      << status.GetErrDescription();
  kernel->fault.clear();
  EXPECT_EQ(model.GetInputs()[0].Shape(), (std::vector<int64_t>{4, 300}));
  EXPECT_EQ(Outputs(&model), before);
}

TEST(Delegate, OneThatTakesNothingChangesNothing) {
  const auto idle = std::make_shared<Scripted>([](LiteDelegateGraph *) { return Status(kSuccess); });
  const auto context = ContextOf(idle);
  context->SetInterOpParallelNum(2);
  const std::string file = BranchedModel();
  Model model;
  ASSERT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, context).IsOk());
  EXPECT_EQ(Outputs(&model), OnCpu(file));
}

// Shapes are the library's to infer: those of a delegate's own tensors count for nothing.
TEST(Delegate, WrongShapesOfItsTensorsDoNotMatter) {
  const auto delegate = std::make_shared<Scripted>([](LiteDelegateGraph *model) {
    const MSTensor x("x", DataType::kNumberTypeFloat32, {1, 2, 3}, nullptr, 0);
    const MSTensor y("y", DataType::kNumberTypeInt8, {1 << 30, 1 << 30, 7}, nullptr, 0);
    model->Replace(model->BeginKernelIterator(), model->EndKernelIterator(), new Filled({x}, {y}));
    return kSuccess;
  });
  Model model;
  ASSERT_TRUE(Build(&model, SmallModel(), delegate).IsOk());
  EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{4, 300}));
  EXPECT_EQ(Outputs(&model), std::vector<float>(1200, 7.0f));
}

TEST(Delegate, BelongsToOneModel) {
  const std::string file = SmallModel();
  const auto context = ContextOf(std::make_shared<ElementwiseDelegate>());
  const auto config = std::make_shared<RunnerConfig>();
  config->SetContext(context);
  ModelParallelRunner runner;
  EXPECT_EQ(runner.Init(file.data(), file.size(), config), kLiteNotSupport);
  Model model;
  ASSERT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, context).IsOk());
  const float four = 4.0f;
  const MSTensor weight("two", DataType::kNumberTypeFloat32, {1}, &four, sizeof four);
  EXPECT_EQ(model.UpdateWeights({weight}), kLiteNotSupport);
  context->SetBuiltInDelegate(static_cast<DelegateMode>(3));
  EXPECT_EQ(Model().Build(file.data(), file.size(), kMindIR_Lite, context), kLiteNotSupport);
}
}  // namespace
}  // namespace mslite::test
