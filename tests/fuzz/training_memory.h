// What the tests of failing memory share: a network, and all that a model of it has and will do.
#ifndef MSLITE_TESTS_FUZZ_TRAINING_MEMORY_H
#define MSLITE_TESTS_FUZZ_TRAINING_MEMORY_H

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "failing_memory.h"
#include "training_models.h"

namespace mslite::test {
constexpr int kMaxAllocations = 20000;

// Between the allocations that are made to fail: CI samples them, `make check-marked` tries each.
inline int Stride() {
#ifdef __x86_64__
  constexpr int kSampled = 3;
#else
  constexpr int kSampled = 17;  // in emulators
#endif
  static const int stride = std::getenv("MSLITE_EVERY_CALL") != nullptr ? 1 : kSampled;
  return stride;
}

// Makes a subject and calls `call` with it while allocation number n fails (from there on with `for_good`), for every
// n, or a sample, that the call comes to; `check` gets n, the subject and the result. Gives how many allocations there
// are.
template <typename Make, typename Call, typename Check>
int EachAllocation(bool for_good, const Make &make, const Call &call, const Check &check) {
  stays = for_good;
  int n = 1;
  for (; n < kMaxAllocations && !testing::Test::HasFatalFailure(); n += Stride()) {
    const auto subject = make();
    left = n;
    const auto result = Armed([&] { return call(subject.get()); });
    if (left.exchange(kNever) > 0) return n - 1;
    check(n, subject.get(), result);
  }
  EXPECT_LT(n, kMaxAllocations);
  return n - 1;
}

// A status that the program makes itself, with memory of its own.
inline mindspore::Status OfProgram(mindspore::StatusCode code) {
  armed = false;
  return code;
}

// A folder that goes with the test.
class MemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/mslite_memory_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // No export leaves a part of a file.
  void CheckNoParts() const {
    for (const auto &entry : std::filesystem::directory_iterator(folder_)) {
      EXPECT_EQ(entry.path().string().find(".part"), std::string::npos);
    }
  }

  std::string folder_;
};

// logits = x w^T and batch normalization of them; their cross entropy. SGD has states that steps do not change where
// they are, and what is normalized moves statistics in the forward pass.
inline std::string NormalizingNetwork() {
  ModelBuilder m;
  auto &b = m.builder;
  constexpr int32_t kRows = 4, kFeatures = 3;
  const std::vector<int32_t> features = {kFeatures}, rows = {kRows, 1, 1, kFeatures};
  const std::vector<float> zeros(kFeatures, 0.0f), ones(kFeatures, 1.0f);
  const uint32_t x = m.Value("x", rows), target = m.Value("target", rows);
  const uint32_t scale = m.Floats("scale", features, ones), offset = m.Floats("offset", features, zeros);
  const uint32_t mean = m.Floats("mean", features, zeros), variance = m.Floats("variance", features, ones);
  const auto value = [&](const char *name) { return m.Value(name, features); };
  const uint32_t y = m.Value("y", rows), saved_mean = value("saved_mean"), saved_variance = value("saved_variance");
  const uint32_t loss = m.Value("loss", rows), dy = m.Value("dy", rows);
  const uint32_t dx = m.Value("dx", rows), dscale = value("dscale"), doffset = value("doffset");
  m.Node("norm", schema::CreateFusedBatchNorm(b, 1e-5f, 0.5f), {x, scale, offset, mean, variance},
         {y, value("copied_scale"), value("copied_offset"), saved_mean, saved_variance});
  m.Node("net/_loss_fn", schema::CreateSubFusion(b), {y, target}, {loss});
  m.Node("Gradients/loss", schema::CreateAddFusion(b), {loss, loss}, {dy});
  m.Node("Gradients/norm", schema::CreateBatchNormGrad(b, 1e-5f, true), {dy, x, scale, saved_mean, saved_variance},
         {dx, dscale, doffset});
  const uint32_t rate = m.Floats("learning_rate", {}, {0.25f}), momentum = m.Floats("momentum", {}, {0.5f});
  m.Node("optimizer/scale", schema::CreateSGD(b),
         {scale, dscale, rate, m.Floats("accumulated.scale", features, zeros), momentum,
          m.Floats("stat.scale", {1}, {1.0f})},
         {value("new_scale")});
  m.Node("optimizer/offset", schema::CreateApplyMomentum(b),
         {offset, m.Floats("moments.offset", features, zeros), rate, doffset, momentum}, {value("new_offset")});
  m.Graph({x, target}, {loss}, {0, 1, 2, 3, 4, 5});
  return m.Finish({x, target}, {loss});
}

inline void Fill(mindspore::Model *model, float seed) {
  for (mindspore::MSTensor &input : model->GetInputs()) {
    auto *values = static_cast<float *>(input.MutableData());
    for (int64_t i = 0; i < input.ElementNum(); ++i) values[i] = seed + static_cast<float>(i * 5 % 7);
  }
}

// All that a model has, and what it does with it: exported states, rates, mode, and what the next steps make of them.
inline std::string Contents(mindspore::Model *model) {
  std::string all = model->GetTrainMode() ? "trains " : "evaluates ";
  all += std::to_string(model->GetLearningRate());
  for (const mindspore::MSTensor &input : model->GetInputs()) all += " " + std::to_string(input.DataSize());
  const auto add = [&all](const std::vector<mindspore::MSTensor> &tensors) {
    for (const mindspore::MSTensor &tensor : tensors) {
      all += tensor.Name() + std::to_string(tensor.DataSize());
      all.append(static_cast<const char *>(tensor.Data().get()), tensor.DataSize());
    }
  };
  add(model->GetTrainableParams());
  add(model->GetOptimizerParams());
  mindspore::Buffer file;
  EXPECT_EQ(mindspore::Serialization::ExportModel(*model, mindspore::kMindIR, &file, mindspore::kNoQuant, false),
            mindspore::kSuccess);
  all.append(static_cast<const char *>(file.Data()), file.DataSize());
  return all;
}

inline std::string Future(mindspore::Model *model) {
  std::string all = Contents(model);
  EXPECT_EQ(model->SetTrainMode(true), mindspore::kSuccess);
  for (int step = 0; step < 3; ++step) {
    Fill(model, static_cast<float>(step));
    const mindspore::Status status = model->RunStep();
    EXPECT_EQ(status, mindspore::kSuccess) << status.ToString();
    all += Contents(model);
  }
  EXPECT_EQ(model->SetTrainMode(false), mindspore::kSuccess);
  EXPECT_EQ(model->Predict(), mindspore::kSuccess);
  return all;
}
}  // namespace mslite::test

#endif
