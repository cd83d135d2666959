// Allocation number n fails, for every n of exporting, loading and unloading a low-rank adapter, and of what a model
// does while it has one: the call says so, never by an exception, and the model computes the same bits as before.
#include <fstream>
#include <functional>
#include <set>
#include <tuple>

#include "adapter_networks.h"
#include "include/c_api/model_c.h"
#include "training_memory.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

std::string ReadAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::unique_ptr<Model> Trained(const std::string &file, const std::shared_ptr<Context> &context, int steps) {
  auto model = std::make_unique<Model>();
  EXPECT_EQ(BuildForTraining(file, TrainCfg(), context, model.get()), kSuccess);
  EXPECT_EQ(model->SetTrainMode(true), kSuccess);
  for (int step = 0; step < steps; ++step) {
    Fill(model.get(), 0.25f * static_cast<float>(step));
    EXPECT_EQ(model->RunStep(), kSuccess);
  }
  return model;
}

class AdapterMemory : public MemoryTest {
 protected:
  void SetUp() override {
    MemoryTest::SetUp();
    for (const auto &[name, rank, steps] :
         {std::tuple{"one", 2, 2}, std::tuple{"other", 2, 5}, std::tuple{"narrow", 1, 3}}) {
      const std::unique_ptr<Model> model = Trained(AdaptedNetwork(rank), context_, steps);
      ASSERT_EQ(Serialization::ExportAdapter(*model, PathOf(name)), kSuccess);
    }
    const std::set<std::string> results = {Result("", 4), Result("one", 4), Result("other", 4), Result("narrow", 4)};
    ASSERT_EQ(results.size(), 4u);  // each adapter changes what the model computes
  }

  std::string PathOf(const std::string &name) const { return folder_ + "/" + name + ".ms"; }

  // A model for inference, with an adapter, that has run with so many rows.
  std::unique_ptr<Model> Loaded(const std::string &adapter) const {
    auto model = std::make_unique<Model>();
    EXPECT_EQ(model->Build(layer_.data(), layer_.size(), kMindIR, context_), kSuccess);
    if (!adapter.empty()) {
      EXPECT_EQ(model->LoadAdapter(PathOf(adapter)), kSuccess);
    }
    Fill(model.get(), 0.5f);
    EXPECT_EQ(model->Predict(), kSuccess);
    return model;
  }

  static std::string Predicted(Model *model) {
    Fill(model, 1.0f);
    std::vector<MSTensor> outputs;
    const Status status = model->Predict(model->GetInputs(), &outputs);
    EXPECT_EQ(status, kSuccess) << status.ToString();
    std::string all;
    for (const MSTensor &output : outputs) {
      all += std::to_string(output.DataSize()) + " ";
      all.append(static_cast<const char *>(output.Data().get()), output.DataSize());
    }
    return all;
  }
  std::string Result(const std::string &adapter, int64_t rows) const {
    const std::unique_ptr<Model> model = Loaded(adapter);
    EXPECT_EQ(model->Resize(model->GetInputs(), {{rows, kAdaptedIn}}), kSuccess);
    return Predicted(model.get());
  }

  // What the model computes now, with adapters that it loads, and without one.
  std::string Next(Model *model) const {
    std::string all = Predicted(model);
    for (const char *adapter : {"other", "narrow", "one"}) {
      EXPECT_EQ(model->LoadAdapter(PathOf(adapter)), kSuccess);
      all += Predicted(model);
    }
    EXPECT_EQ(model->UnloadAdapter(), kSuccess);
    return all + Predicted(model);
  }

  using Call = std::function<Status(Model *model)>;
  int Try(const std::string &label, const std::string &adapter, const Call &call) const {
    int tried = 0;
    const auto make = [&] { return Loaded(adapter); };
    const std::string before = Next(make().get());
    const std::unique_ptr<Model> called = make();
    EXPECT_EQ(call(called.get()), kSuccess) << label;
    const std::string done = Next(called.get());
    for (const bool for_good : {false, true}) {
      tried += EachAllocation(for_good, make, call, [&](int n, Model *model, const Status &status) {
        ASSERT_TRUE(status.IsOk() || status.StatusCode() == kLiteMemoryFailed)
            << label << ", allocation " << n << ": " << status.ToString();
        ASSERT_EQ(Next(model), status.IsOk() ? done : before) << label << ", allocation " << n;
      });
    }
    return tried;
  }

  const std::shared_ptr<Context> context_ = OneThread();
  const std::string layer_ = LayerNetwork();
};

TEST_F(AdapterMemory, ExportAdapter) {
  const std::string network = AdaptedNetwork(2), path = PathOf("exported"), wanted = ReadAll(PathOf("one"));
  const auto make = [&] { return Trained(network, context_, 2); };
  const std::string next = Future(make().get());
  for (const bool for_good : {false, true}) {
    const int count = EachAllocation(
        for_good, make, [&](Model *model) { return Serialization::ExportAdapter(*model, path); },
        [&](int n, Model *model, const Status &status) {
          ASSERT_TRUE(status.IsOk() || status.StatusCode() == kLiteMemoryFailed) << status.ToString();
          ASSERT_EQ(std::filesystem::exists(path), status.IsOk()) << "allocation " << n;
          if (status.IsOk()) {
            ASSERT_EQ(ReadAll(path), wanted);
          }
          std::filesystem::remove(path);
          ASSERT_EQ(Future(model), next) << "allocation " << n;
        });
    EXPECT_GT(count, 50);
    std::filesystem::remove(path);
    CheckNoParts();
  }
}

TEST_F(AdapterMemory, LoadAdapter) {
  for (const char *before : {"", "one", "narrow"}) {
    for (const char *loaded : {"one", "other"}) {
      const std::string path = PathOf(loaded);
      EXPECT_GT(Try(std::string("LoadAdapter, ") + before + " to " + loaded, before,
                    [&path](Model *model) { return model->LoadAdapter(path); }),
                20);
    }
  }
}

TEST_F(AdapterMemory, UnloadAdapter) {
  for (const char *before : {"", "one"}) {
    Try("UnloadAdapter", before, [](Model *model) { return model->UnloadAdapter(); });
  }
}

TEST_F(AdapterMemory, WhatAModelWithAnAdapterDoes) {
  const std::vector<std::vector<int64_t>> shapes = {{7, kAdaptedIn}};
  EXPECT_GT(Try("Resize", "one",
                [&](Model *model) {
                  std::vector<MSTensor> inputs = model->GetInputs();
                  return inputs.empty() ? OfProgram(kLiteMemoryFailed) : model->Resize(inputs, shapes);
                }),
            5);
  const float bias[] = {3.0f, 4.0f};
  const std::vector<MSTensor> weights = {
      MSTensor("bias", DataType::kNumberTypeFloat32, {kAdaptedOut}, bias, sizeof bias)};
  EXPECT_GT(Try("UpdateWeights", "one", [&](Model *model) { return model->UpdateWeights(weights); }), 20);
  EXPECT_GT(Try("Predict", "one",
                [&](Model *model) {
                  std::vector<MSTensor> outputs;
                  const std::vector<MSTensor> inputs = model->GetInputs();
                  return inputs.empty() ? OfProgram(kLiteMemoryFailed) : model->Predict(inputs, &outputs);
                }),
            0);
}

// The same in C.
TEST_F(AdapterMemory, InC) {
  struct Destroy {
    void operator()(void *model) const { MSModelDestroy(&model); }
  };
  const auto make = [&] {
    std::unique_ptr<void, Destroy> model(MSModelCreate());
    MSContextHandle context = MSContextCreate();
    MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
    EXPECT_EQ(MSModelBuild(model.get(), layer_.data(), layer_.size(), kMSModelTypeMindIR, context), kMSStatusSuccess);
    EXPECT_EQ(MSModelLoadAdapter(model.get(), PathOf("one").c_str()), kMSStatusSuccess);
    return model;
  };
  const auto predicted = [](MSModelHandle model) {
    const MSTensorHandleArray inputs = MSModelGetInputs(model);
    auto *values = static_cast<float *>(MSTensorGetMutableData(inputs.handle_list[0]));
    for (int i = 0; i < kAdaptedRows * kAdaptedIn; ++i) values[i] = static_cast<float>(i % 5);
    MSTensorHandleArray outputs = {0, nullptr};
    EXPECT_EQ(MSModelPredict(model, inputs, &outputs, nullptr, nullptr), kMSStatusSuccess);
    return std::string(static_cast<const char *>(MSTensorGetData(outputs.handle_list[0])),
                       MSTensorGetDataSize(outputs.handle_list[0]));
  };
  const std::string path = PathOf("narrow");
  for (const bool loads : {true, false}) {
    const auto call = [&](MSModelHandle model) {
      return loads ? MSModelLoadAdapter(model, path.c_str()) : MSModelUnloadAdapter(model);
    };
    const std::string before = predicted(make().get());
    const auto called = make();
    ASSERT_EQ(call(called.get()), kMSStatusSuccess);
    const std::string done = predicted(called.get());
    ASSERT_NE(before, done);
    for (const bool for_good : {false, true}) {
      EachAllocation(for_good, make, call, [&](int n, MSModelHandle model, MSStatus status) {
        ASSERT_TRUE(status == kMSStatusSuccess || status == kMSStatusLiteMemoryFailed) << "allocation " << n;
        ASSERT_EQ(predicted(model), status == kMSStatusSuccess ? done : before) << "allocation " << n;
        ASSERT_EQ(call(model), kMSStatusSuccess);
        ASSERT_EQ(predicted(model), done) << "allocation " << n;
      });
    }
  }
}
}  // namespace
}  // namespace mslite::test
