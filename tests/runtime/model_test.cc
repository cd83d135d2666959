// The public API end to end.
#include "include/api/model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "include/api/model_parallel_runner.h"
#include "include/api/serialization.h"
#include "include/c_api/model_c.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

std::shared_ptr<Context> MakeContext(int threads = 2, int inter_op = 1) {
  auto context = std::make_shared<Context>();
  context->SetThreadNum(threads);
  context->SetInterOpParallelNum(inter_op);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  return context;
}

std::vector<float> Ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 23) - 11.0f;
  return values;
}

MSTensor FloatTensor(const std::vector<int64_t> &shape, const std::vector<float> &values) {
  return MSTensor("t", DataType::kNumberTypeFloat32, shape, values.data(), values.size() * sizeof(float));
}

std::vector<float> Contents(const MSTensor &tensor) {
  const auto *data = static_cast<const float *>(tensor.Data().get());
  return std::vector<float>(data, data + tensor.ElementNum());
}

// What SmallModel computes.
std::vector<float> Wanted(const std::vector<float> &x) {
  std::vector<float> y;
  for (const float value : x) y.push_back(std::max(std::abs(value) * 2 + value, 0.0f));
  return y;
}

struct Small : ::testing::Test {
  void SetUp() override { ASSERT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, MakeContext()).IsOk()); }
  const std::string file = SmallModel(4, 300);
  Model model;
};

TEST_F(Small, Predicts) {
  const std::vector<float> x = Ramp(1200);
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(model.Predict({FloatTensor({4, 300}, x)}, &outputs).IsOk());
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].Shape(), (std::vector<int64_t>{4, 300}));
  EXPECT_EQ(Contents(outputs[0]), Wanted(x));
  EXPECT_EQ(model.GetOutputTensorNames(), std::vector<std::string>{"y"});
  EXPECT_TRUE(model.GetOutputByTensorName("nobody") == nullptr);
}

TEST_F(Small, RunsOnItsOwnInputs) {
  const std::vector<float> x = Ramp(1200);
  MSTensor input = model.GetInputs()[0];
  std::copy(x.begin(), x.end(), static_cast<float *>(input.MutableData()));
  ASSERT_TRUE(model.Predict().IsOk());
  EXPECT_EQ(Contents(model.GetOutputs()[0]), Wanted(x));
}

TEST_F(Small, TakesOtherShapesAndComesBack) {
  const std::vector<float> x = Ramp(3500);
  ASSERT_TRUE(model.Resize(model.GetInputs(), {{5, 700}}).IsOk());
  EXPECT_EQ(model.GetInputs()[0].Shape(), (std::vector<int64_t>{5, 700}));
  EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{5, 700}));
  for (const int64_t rows : {5, 1, 4, 2, 5, 3, 7, 6, 8, 9, 10, 4}) {
    const std::vector<float> part(x.begin(), x.begin() + rows * 300);
    std::vector<MSTensor> outputs;
    ASSERT_TRUE(model.Predict({FloatTensor({rows, 300}, part)}, &outputs).IsOk());
    EXPECT_EQ(outputs[0].Shape(), (std::vector<int64_t>{rows, 300}));
    EXPECT_EQ(Contents(outputs[0]), Wanted(part));
  }
  EXPECT_EQ(model.Resize(model.GetInputs(), {{-1, 3}}), kLiteInputParamInvalid);
  EXPECT_EQ(model.Resize({FloatTensor({1}, {1.0f})}, {{2, 3}}), kLiteInputTensorError);
  EXPECT_EQ(model.GetInputs()[0].Shape(), (std::vector<int64_t>{5, 700}));
}

TEST_F(Small, WritesIntoTheCallersOutput) {
  const std::vector<float> x = Ramp(1200);
  std::vector<float> target(1200, -1.0f);
  MSTensor output = *std::unique_ptr<MSTensor>(MSTensor::CreateRefTensor(
      "mine", DataType::kNumberTypeFloat32, {4, 300}, target.data(), target.size() * sizeof(float), false));
  std::vector<MSTensor> outputs = {output};
  ASSERT_TRUE(model.Predict({FloatTensor({4, 300}, x)}, &outputs).IsOk());
  EXPECT_EQ(target, Wanted(x));
  EXPECT_EQ(outputs[0].Name(), "mine");
}

TEST_F(Small, WritesIntoItsOwnOutputThatRefersToTheCallersMemory) {
  const std::vector<float> x = Ramp(1200);
  std::vector<float> target(1200, -1.0f);
  model.GetOutputs()[0].SetData(target.data(), false);
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(model.Predict({FloatTensor({4, 300}, x)}, &outputs).IsOk());
  EXPECT_EQ(target, Wanted(x));
  EXPECT_TRUE(outputs[0] == model.GetOutputs()[0]);
}

TEST_F(Small, RefusesMemoryOfAnotherTypeForAnOutput) {
  const std::vector<float> x = Ramp(1200);
  std::vector<int32_t> target(1200, -1);
  const std::vector<int32_t> before = target;
  std::vector<MSTensor> outputs = {*std::unique_ptr<MSTensor>(MSTensor::CreateRefTensor(
      "mine", DataType::kNumberTypeInt32, {4, 300}, target.data(), target.size() * sizeof(int32_t), false))};
  const Status status = model.Predict({FloatTensor({4, 300}, x)}, &outputs);
  EXPECT_EQ(status, kLiteParamInvalid);
  EXPECT_NE(status.GetErrDescription().find("int32"), std::string::npos);
  EXPECT_EQ(target, before);

  MSTensor own = model.GetOutputs()[0];
  own.SetDataType(DataType::kNumberTypeInt32);
  own.SetData(target.data(), false);
  std::vector<MSTensor> fresh;
  EXPECT_EQ(model.Predict({FloatTensor({4, 300}, x)}, &fresh), kLiteParamInvalid);
  EXPECT_EQ(target, before);

  own.SetData(nullptr, false);
  ASSERT_TRUE(model.Predict({FloatTensor({4, 300}, x)}, &fresh).IsOk());
  EXPECT_EQ(fresh[0].DataType(), DataType::kNumberTypeFloat32);
}

TEST_F(Small, RefusesToResizeWhatWasGivenTooManyDimensions) {
  const std::vector<MSTensor> inputs = model.GetInputs();
  MSTensor(inputs[0]).SetShape(std::vector<int64_t>(64, 1));
  EXPECT_EQ(model.Resize(inputs, {{4, 300}}), kLiteInputParamInvalid);
}

TEST_F(Small, RefusesWrongInputs) {
  std::vector<MSTensor> outputs;
  EXPECT_EQ(model.Predict({}, &outputs), kLiteInputTensorError);
  EXPECT_EQ(model.Predict({MSTensor(nullptr)}, &outputs), kLiteInputTensorError);
  const std::vector<int32_t> integers(1200, 1);
  const MSTensor wrong("x", DataType::kNumberTypeInt32, {4, 300}, integers.data(), 4800);
  const Status status = model.Predict({wrong}, &outputs);
  EXPECT_EQ(status, kLiteInputTensorError);
  EXPECT_NE(status.GetErrDescription().find("type int32 instead of float32"), std::string::npos);
  EXPECT_EQ(model.Predict({MSTensor("x", DataType::kNumberTypeFloat32, {4, 300}, nullptr, 0)}, &outputs),
            kLiteInputTensorError);
  EXPECT_EQ(model.Predict({FloatTensor({4, 300}, Ramp(1200))}, nullptr), kLiteNullptr);
  EXPECT_EQ(model.Build(file.data(), file.size(), kMindIR_Lite, MakeContext()), kLiteModelRebuild);
}

TEST_F(Small, CallsBackAroundEachNode) {
  std::vector<std::string> names;
  std::vector<float> sums;
  const MSKernelCallBack before = [&](const std::vector<MSTensor> &, const std::vector<MSTensor> &,
                                      const MSCallBackParam &info) {
    names.push_back(info.node_name + ":" + info.node_type);
    return true;
  };
  const MSKernelCallBack after = [&](const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs,
                                     const MSCallBackParam &) {
    EXPECT_EQ(inputs[0].ElementNum(), 1200);
    sums.push_back(Contents(outputs[0])[0]);
    return true;
  };
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(model.Predict({FloatTensor({4, 300}, Ramp(1200))}, &outputs, before, after).IsOk());
  EXPECT_EQ(names, (std::vector<std::string>{"abs:Abs", "double:MulFusion", "add:AddFusion", "relu:Activation"}));
  EXPECT_EQ(sums, (std::vector<float>{11.0f, 22.0f, 11.0f, 11.0f}));
}

TEST_F(Small, PredictsAsynchronously) {
  const std::vector<float> x = Ramp(1200);
  std::vector<MSTensor> first, second;
  std::future<Status> a = model.PredictAsync({FloatTensor({4, 300}, x)}, &first);
  std::future<Status> b = model.PredictAsync({}, &second);
  EXPECT_TRUE(a.get().IsOk());
  EXPECT_EQ(b.get(), kLiteInputTensorError);
  EXPECT_EQ(Contents(first[0]), Wanted(x));
}

TEST_F(Small, TakesNewWeights) {
  const std::vector<float> x = Ramp(1200);
  std::vector<float> wanted;
  for (const float value : x) wanted.push_back(std::max(std::abs(value) * 3 + value, 0.0f));
  const float three = 3.0f;
  const MSTensor weight("two", DataType::kNumberTypeFloat32, {1}, &three, sizeof three);
  EXPECT_EQ(Model().UpdateWeights({weight}), kLiteUninitializedObj);
  EXPECT_EQ(model.UpdateWeights({}), kLiteParamInvalid);
  EXPECT_EQ(model.UpdateWeights({MSTensor(nullptr)}), kLiteNullptr);
  EXPECT_EQ(model.UpdateWeights({FloatTensor({1}, {3.0f})}), kLiteParamInvalid);  // a name that there is not
  const float pair[] = {3.0f, 3.0f};
  const std::vector<MSTensor> wrong = {weight, MSTensor("two", DataType::kNumberTypeFloat32, {2}, pair, sizeof pair)};
  EXPECT_EQ(model.UpdateWeights(wrong), kLiteParamInvalid);
  const int32_t integer = 3;
  EXPECT_EQ(model.UpdateWeights({MSTensor("two", DataType::kNumberTypeInt32, {1}, &integer, 4)}), kLiteParamInvalid);
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(model.Predict({FloatTensor({4, 300}, x)}, &outputs).IsOk());
  EXPECT_EQ(Contents(outputs[0]), Wanted(x)) << "what was refused has changed nothing";

  ASSERT_TRUE(model.Resize(model.GetInputs(), {{2, 600}}).IsOk());
  ASSERT_TRUE(model.UpdateWeights({weight}).IsOk());
  EXPECT_EQ(outputs[0].Data(), nullptr) << "memory of a session that is gone";
  EXPECT_EQ(model.GetInputs()[0].Shape(), (std::vector<int64_t>{2, 600}));
  EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{2, 600}));
  ASSERT_TRUE(model.Predict({FloatTensor({2, 600}, x)}, &outputs).IsOk());
  EXPECT_EQ(Contents(outputs[0]), wanted);
}

// What a tensor showed of the model's memory ends with the memory.
TEST_F(Small, ShowsNoMemoryThatIsGone) {
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(model.Predict({FloatTensor({4, 300}, Ramp(1200))}, &outputs).IsOk());
  EXPECT_NE(outputs[0].Data(), nullptr);
  ASSERT_TRUE(model.Resize(model.GetInputs(), {{40, 300}}).IsOk());
  EXPECT_EQ(outputs[0].Data(), nullptr);
  ASSERT_TRUE(model.Predict({FloatTensor({4, 300}, Ramp(1200))}, &outputs).IsOk());
  const MSKernelCallBack broken = [](const std::vector<MSTensor> &, const std::vector<MSTensor> &,
                                     const MSCallBackParam &) -> bool { throw std::runtime_error("of the user"); };
  EXPECT_TRUE(model.Predict({FloatTensor({4, 300}, Ramp(1200))}, &outputs, broken).IsError());
  EXPECT_EQ(outputs[0].Data(), nullptr);
}

TEST(DynamicShapes, AreDecidedByTheInputs) {
  const std::string file = SmallModel(-1, 300);
  Model model;
  ASSERT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, MakeContext()).IsOk());
  EXPECT_EQ(model.GetInputs()[0].Shape(), (std::vector<int64_t>{-1, 300}));
  EXPECT_EQ(model.Predict(), kLiteInputTensorError);
  const std::vector<float> x = Ramp(900);
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(model.Predict({FloatTensor({3, 300}, x)}, &outputs).IsOk());
  EXPECT_EQ(outputs[0].Shape(), (std::vector<int64_t>{3, 300}));
  EXPECT_EQ(Contents(outputs[0]), Wanted(x));
}

TEST(ModelContext, IsChecked) {
  const std::string file = SmallModel();
  const auto build = [&](const std::shared_ptr<Context> &context) {
    Model model;
    return model.Build(file.data(), file.size(), kMindIR_Lite, context);
  };
  EXPECT_EQ(build(nullptr), kLiteNullptr);
  EXPECT_EQ(build(std::make_shared<Context>()), kLiteParamInvalid);
  EXPECT_EQ(build(MakeContext(-1)), kLiteParamInvalid);
  EXPECT_EQ(build(MakeContext(2, 3)), kLiteParamInvalid);
  auto gpu = std::make_shared<Context>();
  gpu->MutableDeviceInfo().push_back(std::make_shared<GPUDeviceInfo>());
  EXPECT_EQ(build(gpu), kLiteNotSupport);
  Model model;
  EXPECT_EQ(model.Build(file.data(), file.size(), kONNX, MakeContext()), kLiteNotSupport);
  EXPECT_EQ(
      model.Build(file.data(), file.size(), kMindIR_Lite, MakeContext(), Key("0123456789abcdef", 16), "AES-GCM", ""),
      kLiteGraphFileError);
  EXPECT_EQ(model.Build(std::string("/no/such/file.ms"), kMindIR_Lite, MakeContext()), kLiteFileError);
  EXPECT_EQ(model.SetTrainMode(true), kLiteUninitializedObj);
  EXPECT_EQ(model.Predict(), kLiteUninitializedObj);
}

// Eight independent chains that meet: the same bits however many steps run at the same time.
TEST(Branches, GiveTheSameBits) {
  ModelBuilder builder;
  const uint32_t x = builder.Value("x", {64, 257});
  std::vector<uint32_t> ends;
  std::vector<uint32_t> nodes;
  for (int chain = 0; chain < 8; ++chain) {
    uint32_t last = x;
    for (int i = 0; i < 4; ++i) {
      const std::string name = std::to_string(chain) + "_" + std::to_string(i);
      const uint32_t factor =
          builder.Floats("f" + name, {1}, {0.5f + 0.1f * static_cast<float>(chain) + static_cast<float>(i)});
      const uint32_t next = builder.Value("v" + name, {64, 257});
      nodes.push_back(i % 2 == 0
                          ? builder.Node("m" + name, schema::CreateMulFusion(builder.builder), {last, factor}, {next})
                          : builder.Node("a" + name, schema::CreateAddFusion(builder.builder), {last, factor}, {next}));
      last = next;
    }
    ends.push_back(last);
  }
  uint32_t sum = ends[0];
  for (size_t i = 1; i < ends.size(); ++i) {
    const uint32_t next = builder.Value("s" + std::to_string(i), {64, 257});
    nodes.push_back(
        builder.Node("s" + std::to_string(i), schema::CreateAddFusion(builder.builder), {sum, ends[i]}, {next}));
    sum = next;
  }
  builder.Graph({x}, {sum}, nodes);
  const std::string file = builder.Finish({x}, {sum});
  std::vector<std::vector<float>> results;
  for (const auto &[threads, inter_op] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {3, 1}, {7, 1}, {2, 2}, {4, 3}, {4, 4}}) {
    Model model;
    ASSERT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, MakeContext(threads, inter_op)).IsOk());
    for (int round = 0; round < 20; ++round) {
      std::vector<MSTensor> outputs;
      ASSERT_TRUE(model.Predict({FloatTensor({64, 257}, Ramp(64 * 257))}, &outputs).IsOk());
      results.push_back(Contents(outputs[0]));
      ASSERT_EQ(results.back(), results.front()) << threads << " threads, " << inter_op << " steps at a time";
    }
  }
}

TEST(Unsupported, AllNodesAreNamed) {
  ModelBuilder builder;
  const uint32_t x = builder.Value("x", {2, 3});
  const uint32_t a = builder.Value("a", {2, 3});
  const uint32_t b = builder.Value("b", {2, 3});
  const uint32_t c = builder.Value("c", {2, 3});
  builder.Node("first", schema::CreateAllGather(builder.builder), {x}, {a});
  builder.Node("second", schema::CreateNLLLoss(builder.builder), {x, x, x}, {b, c});
  builder.Graph({x}, {a, b}, {0, 1});
  const std::string file = builder.Finish({x}, {a, b});
  Model model;
  const Status status = model.Build(file.data(), file.size(), kMindIR_Lite, MakeContext());
  EXPECT_EQ(status, kLiteNotFindOp);
  EXPECT_NE(status.GetErrDescription().find("node 'first' (AllGather)"), std::string::npos);
  EXPECT_NE(status.GetErrDescription().find("node 'second' (NLLLoss)"), std::string::npos);
}

TEST(Hostile, HugeActivationsAreRefused) {
  const std::string file = SmallModel(2000000000, 2000000000);
  Model model;
  const Status status = model.Build(file.data(), file.size(), kMindIR_Lite, MakeContext());
  EXPECT_EQ(status, kLiteInferError);
  EXPECT_NE(status.GetErrDescription().find("node 'abs' (Abs)"), std::string::npos) << status.ToString();
  EXPECT_NE(status.GetErrDescription().find("is too large (at most"), std::string::npos) << status.ToString();
}

// Changed bytes anywhere: the model is refused, or runs; nothing else.
TEST(Hostile, SpoiledModelsDoNoHarm) {
  std::mt19937 random(11);
  const std::string whole = SmallModel(3, 5);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string spoiled = whole;
    for (int i = 0; i < 1 + round % 3; ++i) spoiled[random() % spoiled.size()] = static_cast<char>(random());
    Model model;
    if (model.Build(spoiled.data(), spoiled.size(), kMindIR_Lite, MakeContext(1)).IsError()) {
      ++refused;
      continue;
    }
    std::vector<MSTensor> outputs;
    static_cast<void>(model.Predict({FloatTensor({3, 5}, Ramp(15))}, &outputs));
  }
  EXPECT_GT(refused, 100);
}

TEST(Files, AreMappedAndSharedByRunnersAndGraphs) {
  const std::string path = ::testing::TempDir() + "mslite_small_" + std::to_string(getpid()) + ".ms";
  std::ofstream(path, std::ios::binary) << SmallModel(4, 300);
  const std::vector<float> x = Ramp(1200);
  mindspore::Graph graph;
  ASSERT_TRUE(Serialization::Load(path.substr(0, path.size() - 3), kMindIR_Lite, &graph).IsOk());
  Model model;
  ASSERT_TRUE(model.Build(GraphCell(graph), MakeContext()).IsOk());
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(model.Predict({FloatTensor({4, 300}, x)}, &outputs).IsOk());
  EXPECT_EQ(Contents(outputs[0]), Wanted(x));

  ModelParallelRunner runner;
  auto config = std::make_shared<RunnerConfig>();
  config->SetWorkersNum(3);
  config->SetContext(MakeContext(1));
  ASSERT_TRUE(runner.Init(path, config).IsOk());
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int i = 0; i < 6; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        std::vector<MSTensor> results;
        if (runner.Predict({FloatTensor({4, 300}, x)}, &results).IsOk() && Contents(results[0]) == Wanted(x)) ++right;
      }
    });
  }
  for (std::thread &caller : callers) caller.join();
  EXPECT_EQ(right.load(), 300);
  std::remove(path.c_str());
}

TEST(CApi, EveryDeviceThatHasFloat16TakesIt) {
  for (const MSDeviceType type : {kMSDeviceTypeCPU, kMSDeviceTypeGPU, kMSDeviceTypeKirinNPU}) {
    MSDeviceInfoHandle device = MSDeviceInfoCreate(type);
    EXPECT_FALSE(MSDeviceInfoGetEnableFP16(device));
    MSDeviceInfoSetEnableFP16(device, true);
    EXPECT_TRUE(MSDeviceInfoGetEnableFP16(device));
    MSDeviceInfoDestroy(&device);
  }
  MSDeviceInfoSetEnableFP16(nullptr, true);
  EXPECT_FALSE(MSDeviceInfoGetEnableFP16(nullptr));
}

TEST(CApi, BuildsAndPredicts) {
  const std::string file = SmallModel(4, 300);
  MSContextHandle context = MSContextCreate();
  MSContextSetThreadNum(context, 2);
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  MSModelHandle model = MSModelCreate();
  ASSERT_EQ(MSModelBuild(model, file.data(), file.size(), kMSModelTypeMindIR, context), kMSStatusSuccess);
  const MSTensorHandleArray inputs = MSModelGetInputs(model);
  ASSERT_EQ(inputs.handle_num, 1u);
  EXPECT_STREQ(MSTensorGetName(inputs.handle_list[0]), "x");
  const std::vector<float> x = Ramp(1200);
  std::copy(x.begin(), x.end(), static_cast<float *>(MSTensorGetMutableData(inputs.handle_list[0])));
  MSTensorHandleArray outputs = {0, nullptr};
  ASSERT_EQ(MSModelPredict(model, inputs, &outputs, nullptr, nullptr), kMSStatusSuccess);
  ASSERT_EQ(outputs.handle_num, 1u);
  const auto *y = static_cast<const float *>(MSTensorGetData(outputs.handle_list[0]));
  EXPECT_EQ(std::vector<float>(y, y + 1200), Wanted(x));
  MSModelDestroy(&model);
  EXPECT_EQ(model, nullptr);
}

// A device that this library has no engine for is named: the CPU takes its place, unless the context forbids it.
TEST(Devices, WithoutAnEngineAreNamed) {
  const std::string file = SmallModel(-1, 4);
  const auto build = [&](const std::shared_ptr<DeviceInfoContext> &device, bool may_fall_back) {
    auto context = std::make_shared<Context>();
    context->MutableDeviceInfo() = {device, std::make_shared<CPUDeviceInfo>()};
    context->SetFallback(may_fall_back);
    return Model().Build(file.data(), file.size(), kMindIR_Lite, context);
  };
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(build(std::make_shared<AscendDeviceInfo>(), true).IsOk());
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("no backend for Ascend"), std::string::npos);
  Status status = build(std::make_shared<AscendDeviceInfo>(), false);
  EXPECT_EQ(status.StatusCode(), kLiteNotSupport);
  EXPECT_NE(status.GetErrDescription().find("no backend for Ascend"), std::string::npos) << status.ToString();
  // Whether or not the library has NNRT, which is not on this system: HiAI, which the original has for it, is named.
  status = build(std::make_shared<KirinNPUDeviceInfo>(), false);
  EXPECT_EQ(status.StatusCode(), kLiteNotSupport);
  EXPECT_NE(status.GetErrDescription().find("NNRT"), std::string::npos) << status.ToString();
  EXPECT_NE(status.GetErrDescription().find("HiAI, Huawei's library on Android, is not supported"), std::string::npos)
      << status.ToString();
}

// A program in C gets a number: the reason is in the log.
TEST(CApi, FailuresAreLogged) {
  MSModelHandle model = MSModelCreate();
  const auto says = [](const char *reason, const auto &call) {
    ::testing::internal::CaptureStderr();
    EXPECT_NE(call(), kMSStatusSuccess);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(reason), std::string::npos) << "'" << said << "' does not say '" << reason << "'";
  };
  MSTensorHandleArray outputs = {0, nullptr};
  says("not built", [&] { return MSModelPredict(model, {0, nullptr}, &outputs, nullptr, nullptr); });
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  const std::string file = SmallModel(-1, 4);
  const auto build = [&](MSModelType type) { return MSModelBuild(model, file.data(), file.size(), type, context); };
  says("kMSModelTypeMindIR", [&] { return build(kMSModelTypeInvalid); });
  ASSERT_EQ(build(kMSModelTypeMindIR), kMSStatusSuccess);
  // The context is the model's now, and gone: it is not read.
  says("already built", [&] { return build(kMSModelTypeMindIR); });
  const MSTensorHandleArray inputs = MSModelGetInputs(model);
  MSShapeInfo shape = {2, {-2, 4}};
  says("is invalid", [&] { return MSModelResize(model, inputs, &shape, 1); });
  shape.shape_num = MS_MAX_SHAPE_NUM + 1;
  says("MS_MAX_SHAPE_NUM", [&] { return MSModelResize(model, inputs, &shape, 1); });
  MSTensorHandle none = nullptr;
  says("NULL", [&] { return MSModelPredict(model, {1, &none}, &outputs, nullptr, nullptr); });
  MSModelDestroy(&model);
}

std::string WriteFile(const std::string &name, const std::string &text) {
  const std::string path = ::testing::TempDir() + name + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(Settings, WithoutEffectAreNamedOncePerSection) {
  const std::string path = WriteFile(
      "settings", "# no section yet\n[ms_cache]\nconv = data_type:float16\nfc=data_type:float32\n[mine]\na=b\n");
  Model model;
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(model.LoadConfig(path).IsOk());
  EXPECT_TRUE(model.UpdateConfig("common", {"enable_pre_inference", "true"}).IsOk());
  EXPECT_TRUE(model.UpdateConfig("common", {"enable_pre_inference", "false"}).IsOk());
  const std::string log = ::testing::internal::GetCapturedStderr();
  const auto count = [&log](const std::string &text) {
    size_t found = 0;
    for (size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("the settings of section 'ms_cache' have no effect"), 1u) << log;
  EXPECT_EQ(count("section 'mine' is unknown"), 1u) << log;
  EXPECT_EQ(count("the settings of section 'common' have no effect"), 1u) << log;
  unlink(path.c_str());
}

TEST(Settings, MistakesAreTold) {
  Model model;
  EXPECT_EQ(model.LoadConfig("/nowhere/settings"), kLiteFileError);
  EXPECT_EQ(model.LoadConfig(::testing::TempDir()), kLiteFileError);
  for (const char *text : {"[common]\nwithout equals\n", "key=value\n"}) {
    const std::string path = WriteFile("wrong", text);
    EXPECT_EQ(model.LoadConfig(path), kLiteFileError) << text;
    unlink(path.c_str());
  }
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(model.UpdateConfig("common", {std::to_string(i), ""}).IsOk());
  EXPECT_EQ(model.UpdateConfig("common", {"one more", ""}), kLiteError);
  for (int i = 1; i < 100; ++i) ASSERT_TRUE(model.UpdateConfig(std::to_string(i), {"key", ""}).IsOk());
  EXPECT_EQ(model.UpdateConfig("one more", {"key", ""}), kLiteError);

  const std::string file = SmallModel();
  ASSERT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, MakeContext()).IsOk());
  const std::string path = WriteFile("late", "[common]\na=b\n");
  EXPECT_EQ(model.LoadConfig(path), kLiteError);
  EXPECT_EQ(model.UpdateConfig("common", {"a", "b"}), kLiteError);
  unlink(path.c_str());
  auto config = std::make_shared<RunnerConfig>();
  config->SetConfigPath("/nowhere/settings");
  ModelParallelRunner runner;
  EXPECT_EQ(runner.Init(file.data(), file.size(), config), kLiteFileError);
}
}  // namespace
}  // namespace mslite::test
