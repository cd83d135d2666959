// Allocation number n fails, for every n of every call of training in C: the call says so, never by an exception, and
// leaves the model as it was, its handles included.
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <vector>

#include "adapter_networks.h"
#include "include/c_api/model_c.h"
#include "training_memory.h"

namespace mslite::test {
namespace {
struct Destroy {
  void operator()(void *model) const { MSModelDestroy(&model); }
};
using Handle = std::unique_ptr<void, Destroy>;

MSContextHandle NewContext() {
  MSContextHandle context = MSContextCreate();
  MSContextSetThreadNum(context, 1);
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  return context;
}

void FillInputs(MSModelHandle model, float seed) {
  const MSTensorHandleArray inputs = MSModelGetInputs(model);
  for (size_t i = 0; i < inputs.handle_num; ++i) {
    auto *values = static_cast<float *>(MSTensorGetMutableData(inputs.handle_list[i]));
    for (int64_t k = 0; k < MSTensorGetElementNum(inputs.handle_list[i]); ++k) {
      values[k] = seed + static_cast<float>(k * 5 % 7);
    }
  }
}

std::vector<MSTensorHandle> OutputHandles(MSModelHandle model) {
  const MSTensorHandleArray outputs = MSModelGetOutputs(model);
  return std::vector<MSTensorHandle>(outputs.handle_list, outputs.handle_list + outputs.handle_num);
}

std::string Bytes(MSTensorHandle tensor) {
  const auto size = MSTensorGetDataSize(tensor);
  std::string all = MSTensorGetName(tensor) + std::to_string(size);
  if (const void *data = MSTensorGetData(tensor); data != nullptr) all.append(static_cast<const char *>(data), size);
  return all;
}

// All that the C API says of a model, but for what its outputs hold.
std::string State(MSModelHandle model) {
  std::string all = MSModelGetTrainMode(model) ? "trains " : "evaluates ";
  all += std::to_string(MSModelGetLearningRate(model));
  const MSTensorHandleArray weights = MSModelGetWeights(model);
  for (size_t i = 0; i < weights.handle_num; ++i) all += Bytes(weights.handle_list[i]);
  for (MSTensorHandle output : OutputHandles(model)) {
    all += MSTensorGetName(output) + std::to_string(MSTensorGetElementNum(output));
  }
  char *file = nullptr;
  size_t size = 0;
  EXPECT_EQ(MSExportModelBuffer(model, kMSModelTypeMindIR, &file, &size, kMSNO_QUANT, false, nullptr, 0),
            kMSStatusSuccess);
  all.append(file, size);
  free(file);
  return all;
}

// What it has and does from here on.
std::string Next(MSModelHandle model) {
  std::string all = State(model);
  for (const bool trains : {true, false, true}) {
    EXPECT_EQ(MSModelSetTrainMode(model, trains), kMSStatusSuccess);
    FillInputs(model, 2.0f);
    EXPECT_EQ(MSRunStep(model, nullptr, nullptr), kMSStatusSuccess);
    for (MSTensorHandle output : OutputHandles(model)) all += Bytes(output);
  }
  return all + State(model);
}

struct Way {
  const char *name;
  bool trains;
  MSOptimizationLevel level;
  int multiplier;
};
const Way kPlain = {"training", true, kMSKO0, 1};
const std::vector<Way> kWays = {
    kPlain, {"evaluation", false, kMSKO0, 1}, {"virtual batch", true, kMSKO0, 2}, {"mixed", true, kMSKO2, 1}};

class CTrainingMemory : public MemoryTest {
 protected:
  void SetUp() override {
    MemoryTest::SetUp();
    config_ = MSTrainCfgCreate();
  }
  void TearDown() override {
    MSTrainCfgDestroy(&config_);
    for (MSTensorHandle &weight : weights_) MSTensorDestroy(&weight);
    MemoryTest::TearDown();
  }

  MSStatus Build(MSModelHandle model, MSContextHandle context) const {
    return MSTrainModelBuild(model, file_.data(), file_.size(), kMSModelTypeMindIR, context, config_);
  }

  Handle Make(const Way &way) const {
    Handle model(MSModelCreate());
    MSTrainCfgSetOptimizationLevel(config_, way.level);
    EXPECT_EQ(Build(model.get(), NewContext()), kMSStatusSuccess);
    if (way.multiplier > 1) {
      EXPECT_EQ(MSModelSetupVirtualBatch(model.get(), way.multiplier, -1.0f, -1.0f), kMSStatusSuccess);
    }
    EXPECT_EQ(MSModelSetTrainMode(model.get(), true), kMSStatusSuccess);
    FillInputs(model.get(), 1.0f);
    EXPECT_EQ(MSRunStep(model.get(), nullptr, nullptr), kMSStatusSuccess);
    EXPECT_EQ(MSModelSetTrainMode(model.get(), way.trains), kMSStatusSuccess);
    FillInputs(model.get(), 0.5f);
    return model;
  }

  using Call = std::function<MSStatus(MSModelHandle model)>;
  void Try(const Way &way, const char *name, const Call &call) {
    const std::string label = std::string(way.name) + ", " + name;
    const auto make = [&] { return Make(way); };
    const std::string before = Next(make().get());
    const Handle called = make();
    ASSERT_EQ(Armed([&] { return call(called.get()); }), kMSStatusSuccess) << label;
    const std::string done = Next(called.get());
    for (const bool for_good : {false, true}) {
      std::vector<MSTensorHandle> outputs;
      std::string names;
      const auto named = [&](MSModelHandle model) {
        std::string all;
        for (MSTensorHandle output : OutputHandles(model)) all += std::string(MSTensorGetName(output)) + " ";
        return all;
      };
      const auto remember = [&] {
        Handle model = make();
        outputs = OutputHandles(model.get());
        names = named(model.get());
        return model;
      };
      EachAllocation(for_good, remember, call, [&](int n, MSModelHandle model, MSStatus status) {
        ASSERT_TRUE(status == kMSStatusSuccess || status == kMSStatusLiteMemoryFailed)
            << label << ", allocation " << n << ": " << status;
        if (status != kMSStatusSuccess) {
          ASSERT_EQ(OutputHandles(model), outputs) << label << ", allocation " << n;
          ASSERT_EQ(named(model), names) << label << ", allocation " << n;
        }
        ASSERT_TRUE(Next(model) == (status == kMSStatusSuccess ? done : before)) << label << ", allocation " << n;
      });
    }
  }

  // As the model has them, with other contents.
  MSTensorHandleArray NewWeights() {
    const Handle model = Make(kPlain);
    const MSTensorHandleArray weights = MSModelGetWeights(model.get());
    for (size_t i = 0; i < weights.handle_num; ++i) {
      weights_.push_back(MSTensorClone(weights.handle_list[i]));
      static_cast<float *>(MSTensorGetMutableData(weights_.back()))[0] += 0.5f;
    }
    EXPECT_GE(weights_.size(), 2u);
    return {weights_.size(), weights_.data()};
  }

  std::string file_ = NormalizingNetwork();
  MSTrainCfgHandle config_ = nullptr;
  std::vector<MSTensorHandle> weights_;
};

TEST_F(CTrainingMemory, Build) {
  const std::string path = folder_ + "/training.ms";
  std::ofstream(path, std::ios::binary) << file_;
  struct Subject {
    ~Subject() {
      if (context != nullptr) MSContextDestroy(&context);
    }
    const Handle model{MSModelCreate()};
    MSContextHandle context = NewContext();
  };
  for (const bool of_file : {false, true}) {
    const auto build = [&](Subject *subject) {
      const MSStatus status = of_file ? MSTrainModelBuildFromFile(subject->model.get(), path.c_str(),
                                                                  kMSModelTypeMindIR, subject->context, config_)
                                      : Build(subject->model.get(), subject->context);
      if (status == kMSStatusSuccess) subject->context = nullptr;  // it is the model's
      return status;
    };
    for (const bool for_good : {false, true}) {
      const int count = EachAllocation(
          for_good, [] { return std::make_unique<Subject>(); }, build,
          [&](int n, Subject *subject, MSStatus status) {
            MSModelHandle model = subject->model.get();
            if (status != kMSStatusSuccess) {
              ASSERT_EQ(status, kMSStatusLiteMemoryFailed) << "allocation " << n;
              ASSERT_EQ(MSModelGetInputs(model).handle_num + MSModelGetOutputs(model).handle_num, 0u);
              ASSERT_EQ(build(subject), kMSStatusSuccess) << "allocation " << n;  // the context was still there
            }
            ASSERT_EQ(MSModelGetInputs(model).handle_num, 2u);
            ASSERT_EQ(MSModelGetOutputs(model).handle_num, 1u);
            ASSERT_EQ(MSModelSetTrainMode(model, true), kMSStatusSuccess);
            FillInputs(model, 1.0f);
            ASSERT_EQ(MSRunStep(model, nullptr, nullptr), kMSStatusSuccess);
          });
      EXPECT_GT(count, 100);
    }
  }
}

TEST_F(CTrainingMemory, RunStep) {
  for (const Way &way : kWays)
    Try(way, "MSRunStep", [](MSModelHandle model) { return MSRunStep(model, nullptr, nullptr); });
}

TEST_F(CTrainingMemory, SetTrainMode) {
  for (const Way &way : kWays) {
    Try(way, "MSModelSetTrainMode", [&way](MSModelHandle model) { return MSModelSetTrainMode(model, !way.trains); });
  }
}

TEST_F(CTrainingMemory, LearningRate) {
  for (const Way &way : kWays) {
    Try(way, "MSModelSetLearningRate", [](MSModelHandle model) { return MSModelSetLearningRate(model, 0.75f); });
    const Handle model = Make(way);
    const float rate = MSModelGetLearningRate(model.get());
    EXPECT_GT(rate, 0.0f);
    EachAllocation(
        true, [&] { return std::make_unique<float>(); },
        [&](const float *) { return MSModelGetLearningRate(model.get()); },
        [&](int n, const float *, float got) { ASSERT_EQ(got, rate) << "allocation " << n; });
  }
}

TEST_F(CTrainingMemory, SetupVirtualBatch) {
  Try(kPlain, "MSModelSetupVirtualBatch",
      [](MSModelHandle model) { return MSModelSetupVirtualBatch(model, 3, 0.5f, 0.25f); });
  Try(kWays[2], "MSModelSetupVirtualBatch(1)",
      [](MSModelHandle model) { return MSModelSetupVirtualBatch(model, 1, -1.0f, -1.0f); });
}

TEST_F(CTrainingMemory, Weights) {
  const MSTensorHandleArray weights = NewWeights();
  for (const Way &way : kWays) {
    Try(way, "MSModelUpdateWeights", [&](MSModelHandle model) { return MSModelUpdateWeights(model, weights); });
    Try(way, "MSModelGetWeights", [&](MSModelHandle model) {
      const size_t count = MSModelGetWeights(model).handle_num;
      EXPECT_TRUE(count == 0 || count == weights.handle_num);  // all or none
      return count == 0 ? kMSStatusLiteMemoryFailed : kMSStatusSuccess;
    });
  }
}

TEST_F(CTrainingMemory, Exports) {
  const std::string path = folder_ + "/exported.ms";
  char name[] = "y";
  char *outputs[] = {name};
  const auto is_whole = [&] { return std::filesystem::exists(path) && std::filesystem::file_size(path) > 100; };
  const auto leaves_none = [&](MSStatus status) {
    armed = false;
    EXPECT_EQ(is_whole(), status == kMSStatusSuccess);
    std::filesystem::remove(path);
    return status;
  };
  Try(kPlain, "MSExportModel", [&](MSModelHandle model) {
    return leaves_none(MSExportModel(model, kMSModelTypeMindIR, path.c_str(), kMSNO_QUANT, true, outputs, 1));
  });
  Try(kPlain, "MSExportModelBuffer", [&](MSModelHandle model) {
    auto *bytes = name;
    size_t size = 1;
    const MSStatus status =
        MSExportModelBuffer(model, kMSModelTypeMindIR, &bytes, &size, kMSWEIGHT_QUANT, true, outputs, 1);
    armed = false;
    EXPECT_EQ(bytes != nullptr, status == kMSStatusSuccess);
    EXPECT_EQ(size != 0, status == kMSStatusSuccess);
    free(bytes);
    return status;
  });
  char scale[] = "scale";
  char *changeable[] = {scale};
  Try(kPlain, "MSExportWeightsCollaborateWithMicro", [&](MSModelHandle model) {
    const MSStatus status =
        MSExportWeightsCollaborateWithMicro(model, kMSModelTypeMindIR, path.c_str(), true, false, changeable, 0);
    armed = false;
    EXPECT_EQ(std::filesystem::exists(path), status == kMSStatusSuccess);
    std::filesystem::remove(path);
    return status;
  });
  file_ = AdaptedNetwork(2);
  Try(kPlain, "MSExportAdapter",
      [&](MSModelHandle model) { return leaves_none(MSExportAdapter(model, path.c_str())); });
  CheckNoParts();
}

TEST_F(CTrainingMemory, Configuration) {
  struct Config {
    ~Config() { MSTrainCfgDestroy(&handle); }
    MSTrainCfgHandle handle = MSTrainCfgCreate();
  };
  const std::string first = "the name of a loss that is too long to be kept inside of a string";
  const std::vector<std::string> before = {first + " 1", first + " 2"};
  const std::vector<std::string> after = {first + " 3", first + " 4"};
  const auto names_of = [](const Config *config) {
    size_t count = 0;
    char **texts = MSTrainCfgGetLossName(config->handle, &count);
    armed = false;
    std::vector<std::string> names(texts, texts + count);
    for (size_t i = 0; i < count; ++i) free(texts[i]);
    free(texts);
    return names;
  };
  const auto set = [](const Config *config, const std::vector<std::string> &names) {
    const char *texts[] = {names[0].c_str(), names[1].c_str()};
    MSTrainCfgSetLossName(config->handle, texts, 2);
    return 0;
  };
  const auto make = [&] {
    auto config = std::make_unique<Config>();
    set(config.get(), before);
    return config;
  };
  for (const bool for_good : {false, true}) {
    EXPECT_GT(EachAllocation(
                  for_good, make, [&](const Config *config) { return set(config, after); },
                  [&](int n, const Config *config, int) {
                    const std::vector<std::string> names = names_of(config);
                    ASSERT_TRUE(names == before || names == after) << "allocation " << n;
                  }),
              2);
    EXPECT_GT(EachAllocation(for_good, make, names_of,
                             [&](int n, const Config *config, const std::vector<std::string> &names) {
                               ASSERT_TRUE(names.empty() || names == before) << "allocation " << n;
                               ASSERT_EQ(names_of(config), before) << "allocation " << n;
                             }),
              2);
    EXPECT_GT(EachAllocation(
                  for_good, [] { return std::make_unique<int>(); }, [](const int *) { return MSTrainCfgCreate(); },
                  [](int, const int *, MSTrainCfgHandle config) {
                    ASSERT_EQ(config, nullptr);
                    MSTrainCfgDestroy(&config);
                  }),
              1);
  }
}
}  // namespace
}  // namespace mslite::test
