// Allocation number n fails, for every n and every function of the APIs: nothing is thrown, and what was made can still
// be used and destroyed. Counts that no array has are refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "failing_memory.h"
#include "include/api/model_group.h"
#include "include/api/model_parallel_runner.h"
#include "include/api/serialization.h"
#include "include/c_api/model_c.h"
#include "include/mslite/async_run.h"
#include "include/mslite/digest.h"
#include "include/mslite/inspect.h"
#include "include/mslite/plugin.h"
#include "include/mslite/run_control.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

constexpr char kLongName[] = "a name that is too long to be kept inside of the string, and of no tensor";
constexpr int64_t kShape[] = {2, 300};
constexpr size_t kRank = 2;
constexpr int kMaxAllocations = 20000;

struct Call {
  const char *name;
  std::function<void()> call;
};

// Calls the function with each of its allocations failing, once or for good; what it throws fails the test.
int FailEach(const Call &call) {
  int failures = 0;
  for (const bool for_good : {false, true}) {
    int n = 1;
    for (; n < kMaxAllocations; ++n) {
      stays = for_good;
      left = n;
      bool has_thrown = false;
      armed = true;
      try {
        call.call();
      } catch (...) {
        has_thrown = true;
      }
      armed = false;
      EXPECT_FALSE(has_thrown) << call.name << ", allocation " << n;
      if (left.exchange(kNever) > 0) break;  // there were fewer allocations than n
      ++failures;
    }
    EXPECT_LT(n, kMaxAllocations) << call.name;
  }
  stays = false;
  return failures;
}

// What the functions of the C API are called with.
class CApi : public testing::Test {
 protected:
  void SetUp() override {
    context_ = ContextWithDevice();
    model_ = MSModelCreate();
    ASSERT_EQ(MSModelBuild(model_, file_.data(), file_.size(), kMSModelTypeMindIR, ContextWithDevice()),
              kMSStatusSuccess);
    MSTensorHandleArray inputs = MSModelGetInputs(model_);
    MSShapeInfo shape = {kRank, {kShape[0], kShape[1]}};
    ASSERT_EQ(MSModelResize(model_, inputs, &shape, 1), kMSStatusSuccess);
    ASSERT_NE(MSTensorGetMutableData(inputs.handle_list[0]), nullptr);
    tensor_ = MSTensorCreate("x", kMSDataTypeNumberTypeFloat32, kShape, kRank, nullptr, 0);
    device_ = MSDeviceInfoCreate(kMSDeviceTypeCPU);
    config_ = MSTrainCfgCreate();
  }
  void TearDown() override {
    MSContextDestroy(&context_);
    MSModelDestroy(&model_);
    MSTensorDestroy(&tensor_);
    MSDeviceInfoDestroy(&device_);
    MSTrainCfgDestroy(&config_);
  }

  static MSContextHandle ContextWithDevice() {
    MSContextHandle context = MSContextCreate();
    MSContextSetThreadNum(context, 1);
    MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
    return context;
  }

  // A model that is built again, where there is memory for it.
  void Build(bool with_key) {
    MSModelHandle model = MSModelCreate();
    MSContextHandle context = MSContextCreate();
    MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
    const MSStatus status = with_key
                                ? MSModelBuildWithKey(model, file_.data(), file_.size(), kMSModelTypeMindIR, context,
                                                      "0123456789abcdef", 16, "AES-GCM", "/no/such/library")
                                : MSModelBuild(model, file_.data(), file_.size(), kMSModelTypeMindIR, context);
    if (status != kMSStatusSuccess) MSContextDestroy(&context);
    MSModelDestroy(&model);
  }

  const std::string file_ = SmallModel();
  MSContextHandle context_ = nullptr;
  MSModelHandle model_ = nullptr;
  MSTensorHandle tensor_ = nullptr;
  MSDeviceInfoHandle device_ = nullptr;
  MSTrainCfgHandle config_ = nullptr;
};

TEST_F(CApi, NothingIsThrownWithoutMemory) {
  const int32_t cores[] = {0};
  const char *names[] = {kLongName};
  char name[] = "a tensor of that name is not in the model";
  char *outputs[] = {name};
  char *bytes = nullptr;
  size_t size = 0;
  const auto keep = [](MSStatus) {};
  const std::vector<Call> calls = {
      {"MSContextCreate",
       [] {
         MSContextHandle made = MSContextCreate();
         MSContextDestroy(&made);
       }},
      {"MSContextSetThreadAffinityCoreList", [&] { MSContextSetThreadAffinityCoreList(context_, cores, 1); }},
      {"MSContextSetRunLimits", [&] { MSContextSetRunLimits(context_, -1, 0, 0); }},
      {"MSContextAddDeviceInfo", [&] { MSContextAddDeviceInfo(context_, MSDeviceInfoCreate(kMSDeviceTypeCPU)); }},
      {"MSDeviceInfoSetProvider", [&] { MSDeviceInfoSetProvider(device_, kLongName); }},
      {"MSDeviceInfoSetProviderDevice", [&] { MSDeviceInfoSetProviderDevice(device_, kLongName); }},
      {"MSTensorCreate",
       [] {
         MSTensorHandle made = MSTensorCreate(kLongName, kMSDataTypeNumberTypeFloat32, kShape, kRank, nullptr, 0);
         MSTensorDestroy(&made);
       }},
      {"MSTensorClone",
       [&] {
         MSTensorHandle made = MSTensorClone(tensor_);
         MSTensorDestroy(&made);
       }},
      {"MSTensorSetName",
       [&] {
         MSTensorSetName(tensor_, "x");
         MSTensorSetName(tensor_, kLongName);
       }},
      {"MSTensorSetShape",
       [&] {
         MSTensorHandle made = MSTensorCreate("x", kMSDataTypeNumberTypeFloat32, nullptr, 0, nullptr, 0);
         MSTensorSetShape(made, kShape, kRank);
         MSTensorDestroy(&made);
       }},
      {"MSModelBuild", [&] { Build(false); }},
      {"MSModelBuildWithKey", [&] { Build(true); }},
      {"MSModelBuildFromFile, no file",
       [&] { keep(MSModelBuildFromFile(model_, kLongName, kMSModelTypeMindIR, context_)); }},
      {"MSModelBuild, of another type",
       [&] { keep(MSModelBuild(model_, file_.data(), file_.size(), kMSModelTypeInvalid, context_)); }},
      {"MSModelBuild, no data", [&] { keep(MSModelBuild(nullptr, nullptr, 0, kMSModelTypeMindIR, nullptr)); }},
      {"MSModelBuildWithKey, no key",
       [&] {
         keep(MSModelBuildWithKey(model_, file_.data(), file_.size(), kMSModelTypeMindIR, context_, "", 99, "", ""));
       }},
      {"MSModelResize",
       [&] {
         MSShapeInfo shape = {kRank, {kShape[0], kShape[1]}};
         keep(MSModelResize(model_, MSModelGetInputs(model_), &shape, 1));
       }},
      {"MSModelPredict",
       [&] {
         MSTensorHandleArray results = {0, nullptr};
         keep(MSModelPredict(model_, MSModelGetInputs(model_), &results, nullptr, nullptr));
       }},
      {"MSModelPredict, no outputs",
       [&] { keep(MSModelPredict(model_, MSModelGetInputs(model_), nullptr, nullptr, nullptr)); }},
      {"MSModelPredictAsync, no function",
       [&] { keep(MSModelPredictAsync(model_, MSModelGetInputs(model_), nullptr, nullptr, nullptr)); }},
      {"MSModelUpdateWeights", [&] { keep(MSModelUpdateWeights(model_, MSModelGetInputs(model_))); }},
      {"MSModelLoadAdapter", [&] { keep(MSModelLoadAdapter(model_, kLongName)); }},
      {"MSTrainCfgCreate",
       [] {
         MSTrainCfgHandle made = MSTrainCfgCreate();
         MSTrainCfgDestroy(&made);
       }},
      {"MSTrainCfgSetLossName", [&] { MSTrainCfgSetLossName(config_, names, 1); }},
      {"MSTrainModelBuildFromFile, no file",
       [&] { keep(MSTrainModelBuildFromFile(model_, kLongName, kMSModelTypeMindIR, context_, config_)); }},
      {"MSModelSetTrainMode", [&] { keep(MSModelSetTrainMode(model_, true)); }},
      {"MSModelSetLearningRate", [&] { keep(MSModelSetLearningRate(model_, 0.5f)); }},
      {"MSModelGetLearningRate", [&] { MSModelGetLearningRate(model_); }},
      {"MSModelSetupVirtualBatch", [&] { keep(MSModelSetupVirtualBatch(model_, 2, 0.5f, 0.5f)); }},
      {"MSModelGetWeights", [&] { MSModelGetWeights(model_); }},
      {"MSExportModel",
       [&] { keep(MSExportModel(model_, kMSModelTypeMindIR, kLongName, kMSNO_QUANT, true, outputs, 1)); }},
      {"MSExportModelBuffer",
       [&] { keep(MSExportModelBuffer(model_, kMSModelTypeMindIR, &bytes, &size, kMSNO_QUANT, true, outputs, 1)); }},
      {"MSExportAdapter", [&] { keep(MSExportAdapter(model_, kLongName)); }},
      {"MSExportWeightsCollaborateWithMicro",
       [&] {
         keep(MSExportWeightsCollaborateWithMicro(model_, kMSModelTypeMindIR, kLongName, true, true, outputs, 1));
       }},
  };
  for (const Call &call : calls) EXPECT_GT(FailEach(call), 0) << call.name << " allocates nothing";
  Build(false);  // all is as before
  MSTensorHandleArray results = {0, nullptr};
  EXPECT_EQ(MSModelPredict(model_, MSModelGetInputs(model_), &results, nullptr, nullptr), kMSStatusSuccess);
  EXPECT_EQ(results.handle_num, 1u);
}

TEST_F(CApi, CountsThatNoArrayHasAreRefused) {
  MSTensorSetShape(tensor_, kShape, SIZE_MAX);
  MSTensorSetShape(tensor_, kShape, MS_MAX_SHAPE_NUM + 1);
  size_t rank = 0;
  const int64_t *shape = MSTensorGetShape(tensor_, &rank);
  ASSERT_EQ(rank, kRank);
  EXPECT_EQ(shape[1], kShape[1]);
  EXPECT_EQ(MSTensorCreate("x", kMSDataTypeNumberTypeFloat32, kShape, SIZE_MAX, nullptr, 0), nullptr);
  EXPECT_EQ(MSTensorCreate("x", kMSDataTypeNumberTypeFloat32, kShape, kRank, kShape, SIZE_MAX), nullptr);
  EXPECT_EQ(MSTensorCreate("x", kMSDataTypeObjectTypeString, kShape, kRank, kShape, SIZE_MAX), nullptr);

  const int32_t cores[] = {0};
  MSContextSetThreadAffinityCoreList(context_, cores, 1);
  MSContextSetThreadAffinityCoreList(context_, cores, SIZE_MAX);
  size_t count = 0;
  MSContextGetThreadAffinityCoreList(context_, &count);
  EXPECT_EQ(count, 1u);

  MSTensorHandle handles[] = {tensor_};
  const MSTensorHandleArray endless = {SIZE_MAX, handles};
  MSTensorHandleArray results = {0, nullptr};
  MSTensorHandleArray endless_results = endless;
  MSShapeInfo info = {kRank, {kShape[0], kShape[1]}};
  const MSTensorHandleArray inputs = MSModelGetInputs(model_);
  EXPECT_NE(MSModelPredict(model_, endless, &results, nullptr, nullptr), kMSStatusSuccess);
  EXPECT_NE(MSModelPredict(model_, inputs, &endless_results, nullptr, nullptr), kMSStatusSuccess);
  EXPECT_NE(MSModelResize(model_, endless, &info, SIZE_MAX), kMSStatusSuccess);
  EXPECT_NE(MSModelResize(model_, inputs, &info, SIZE_MAX), kMSStatusSuccess);
  info.shape_num = SIZE_MAX;
  EXPECT_NE(MSModelResize(model_, inputs, &info, 1), kMSStatusSuccess);
  EXPECT_NE(MSModelUpdateWeights(model_, endless), kMSStatusSuccess);

  const char *names[] = {"loss"};
  char text[] = "y";
  char *outputs[] = {text};
  MSTrainCfgSetLossName(config_, names, 1);
  MSTrainCfgSetLossName(config_, names, SIZE_MAX);
  char **kept = MSTrainCfgGetLossName(config_, &count);
  EXPECT_EQ(count, 1u);
  free(kept[0]);
  free(kept);
  EXPECT_NE(MSExportModel(model_, kMSModelTypeMindIR, "x.ms", kMSNO_QUANT, true, outputs, SIZE_MAX), kMSStatusSuccess);
  EXPECT_NE(MSModelBuildWithKey(model_, file_.data(), file_.size(), kMSModelTypeMindIR, context_, "0", SIZE_MAX,
                                nullptr, nullptr),
            kMSStatusSuccess);
}

// The C++ API, as far as its functions promise to throw nothing: they return a status, or set something.
TEST(CppApi, NothingIsThrownWithoutMemory) {
  const std::string file = SmallModel();
  const std::string name = kLongName;
  const std::vector<std::string> names = {kLongName};
  const std::vector<int64_t> shape = {kShape[0], kShape[1]};
  const std::vector<std::vector<int64_t>> shapes = {shape};
  const auto cpu = std::make_shared<CPUDeviceInfo>();
  const auto ascend = std::make_shared<AscendDeviceInfo>();
  const auto context = std::make_shared<Context>();
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(cpu);
  const std::vector<int32_t> cores = {0};
  const std::map<std::string, std::string> settings = {{name, name}};
  Model model;
  ASSERT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, context).IsOk());
  const std::vector<MSTensor> inputs = model.GetInputs();
  ASSERT_TRUE(model.Resize(inputs, shapes).IsOk());
  MSTensor input = inputs[0];
  ASSERT_NE(input.MutableData(), nullptr);
  std::vector<MSTensor> outputs;
  MSTensor tensor("x", DataType::kNumberTypeFloat32, shape, nullptr, 0);
  RunnerConfig config;
  ModelParallelRunner runner;
  Buffer buffer;
  PlanInfo plan;
  PlacementInfo placement;
  std::vector<EngineInfo> engines;
  std::string digest;
  int told = 0;
  const std::array<int, 16> large = {};  // more than a std::function holds without memory of its own
  const std::function<void(const Status &)> done = [&told, large](const Status &) { told += 1 + large[0]; };
  const std::vector<Call> calls = {
      {"MSTensor", [&] { const MSTensor made; }},
      {"MSTensor, named", [&] { const MSTensor made(name, DataType::kNumberTypeFloat32, shape, nullptr, 0); }},
      {"MSTensor::Clone", [&] { MSTensor::DestroyTensorPtr(tensor.Clone()); }},
      {"MSTensor::SetShape",
       [&] {
         MSTensor made("x", DataType::kNumberTypeFloat32, {}, nullptr, 0);
         made.SetShape(shape);
       }},
      {"MSTensor::SetTensorName",
       [&] {
         tensor.SetTensorName("x");
         tensor.SetTensorName(name);
       }},
      {"MSTensor::StringsToTensor", [&] { MSTensor::DestroyTensorPtr(MSTensor::StringsToTensor(name, names)); }},
      {"Context::SetThreadAffinity", [&] { context->SetThreadAffinity(cores); }},
      {"SetProvider", [&] { cpu->SetProvider(name); }},
      {"SetInputShape", [&] { ascend->SetInputShape(name); }},
      {"SetConfigInfo", [&] { config.SetConfigInfo(name, settings); }},
      {"SetConfigPath", [&] { config.SetConfigPath(name); }},
      {"SetRunLimits",
       [&] {
         SetRunLimits(context, {-1, 0, 0});
       }},
      {"Model::Build, built already", [&] { model.Build(file.data(), file.size(), kMindIR_Lite, context); }},
      {"Model::Resize", [&] { model.Resize(inputs, shapes); }},
      {"Model::Predict", [&] { model.Predict(inputs, &outputs); }},
      {"Model::Predict, no outputs", [&] { model.Predict(inputs, nullptr); }},
      {"Model::UpdateWeights", [&] { model.UpdateWeights(inputs); }},
      {"Model::LoadConfig", [&] { model.LoadConfig(name); }},
      {"Model::GetInputs", [&] { model.GetInputs(); }},
      {"Model::GetOutputTensorNames", [&] { model.GetOutputTensorNames(); }},
      {"Model::SetTrainMode", [&] { model.SetTrainMode(true); }},
      {"Model::GetFeatureMaps", [&] { model.GetFeatureMaps(); }},
      {"Model::ApplyGradients", [&] { model.ApplyGradients(inputs); }},
      {"Model::Train", [&] { model.Train(1, nullptr, {}); }},
      {"Model::Preprocess", [&] { model.Preprocess({}, nullptr); }},
      {"Model::PredictAsync", [&] { model.PredictAsync(inputs, nullptr, done); }},
      {"StartPredict", [&] { StartPredict(model, inputs, nullptr, done).Wait(); }},
      {"StartPredict of a runner", [&] { StartPredict(runner, inputs, nullptr, {}, done).Wait(); }},
      {"ModelParallelRunner::Init", [&] { ModelParallelRunner().Init(file.data(), file.size()); }},
      {"ModelParallelRunner::Predict", [&] { runner.Predict(inputs, &outputs); }},
      {"ReplaceModel", [&] { ReplaceModel(runner, name); }},
      {"SetQueueCapacity", [&] { SetQueueCapacity(model, 0); }},
      {"ModelGroup::AddModel", [&] { ModelGroup().AddModel(names); }},
      {"InspectPlan", [&] { InspectPlan(model, &plan); }},
      {"InspectPlan, not built", [&] { InspectPlan(Model(), &plan); }},
      {"InspectPlacement, not built", [&] { InspectPlacement(Model(), &placement); }},
      {"InspectEngines", [&] { InspectEngines(name, &engines); }},
      {"VerifyDigest", [&] { VerifyDigest(file.data(), file.size()); }},
      {"FileDigest", [&] { FileDigest(name, &digest); }},
      {"LoadPlugin", [&] { LoadPlugin(name); }},
      {"Serialization::Load", [&] { Serialization::Load(name, kMindIR, nullptr); }},
      {"Serialization::SetParameters", [&] { Serialization::SetParameters({}, nullptr); }},
      {"Serialization::ExportModel", [&] { Serialization::ExportModel(model, kMindIR, name); }},
      {"Serialization::ExportModel, no name", [&] { Serialization::ExportModel(model, kMindIR, std::string()); }},
      {"Serialization::ExportModel, to memory", [&] { Serialization::ExportModel(model, kMindIR, &buffer); }},
      {"Serialization::ExportModel, no buffer",
       [&] { Serialization::ExportModel(model, kMindIR, static_cast<Buffer *>(nullptr)); }},
      {"Serialization::ExportAdapter", [&] { Serialization::ExportAdapter(model, name); }},
      {"Serialization::ExportWeightsCollaborateWithMicro",
       [&] { Serialization::ExportWeightsCollaborateWithMicro(model, kMindIR, name); }},
  };
  for (const Call &call : calls) EXPECT_GT(FailEach(call), 0) << call.name << " allocates nothing";
  EXPECT_GT(told, 0);
  EXPECT_TRUE(model.Predict(inputs, &outputs).IsOk());
}

// A group that could not take a model, or measure it, is as before: it can do so when there is memory.
TEST(CppApi, AGroupIsAsBefore) {
  char name[] = "/tmp/mslite_group_XXXXXX";
  const int descriptor = mkstemp(name);
  ASSERT_GE(descriptor, 0);
  close(descriptor);
  const std::string path = name, file = SmallModel();
  std::ofstream(path, std::ios::binary) << file;
  const auto context = std::make_shared<Context>();
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  const std::vector<std::string> paths = {path};
  const std::vector<std::pair<const void *, size_t>> buffers = {{file.data(), file.size()}};
  const std::vector<std::function<Status(ModelGroup *)>> calls = {
      [&](ModelGroup *group) { return group->AddModel(paths); },
      [&](ModelGroup *group) { return group->AddModel(buffers); },
      [&](ModelGroup *group) { return group->CalMaxSizeOfWorkspace(kMindIR, context); }};
  for (size_t failing = 0; failing < calls.size(); ++failing) {
    for (const bool for_good : {false, true}) {
      int n = 1;
      for (; n < kMaxAllocations; ++n) {
        ModelGroup group;
        for (size_t i = 0; i < failing; ++i) ASSERT_EQ(calls[i](&group), kSuccess);
        stays = for_good;
        left = n;
        const Status status = Armed([&] { return calls[failing](&group); });
        if (left.exchange(kNever) > 0) break;
        if (status.IsError()) {
          ASSERT_EQ(status.StatusCode(), kLiteMemoryFailed) << failing << ", allocation " << n;
          ASSERT_EQ(calls[failing](&group), kSuccess);
        }
        for (size_t i = failing + 1; i < calls.size(); ++i) ASSERT_EQ(calls[i](&group), kSuccess);
        Model model;
        ASSERT_TRUE(model.Build(path, kMindIR, context).IsOk());
        ASSERT_NE(model.GetInputs()[0].MutableData(), nullptr);
        ASSERT_TRUE(model.Predict().IsOk()) << failing << ", allocation " << n;
      }
      EXPECT_GT(n, 1);
      EXPECT_LT(n, kMaxAllocations);
    }
  }
  stays = false;
  unlink(name);
}
}  // namespace
}  // namespace mslite::test
