// Allocation number n fails, for every n that building, resizing and running a model come to: each failure is a status
// with a message, never an exception, and the model runs as before once there is memory again.
#include <gtest/gtest.h>

#include <future>

#include "failing_memory.h"
#include "include/api/model.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

constexpr int kMaxAllocations = 20000;

// Everything that a program does with a model.
Status Use(const std::string &file, const std::shared_ptr<Context> &context) {
  const std::vector<std::vector<int64_t>> shapes = {{2, 300}};
  auto model = Armed([] { return Model(); });
  Status status = Armed([&] { return model.Build(file.data(), file.size(), kMindIR_Lite, context); });
  if (status.IsError()) return status;
  std::vector<MSTensor> inputs = Armed([&] { return model.GetInputs(); });
  if (inputs.empty()) return kLiteMemoryFailed;
  status = Armed([&] { return model.Resize(inputs, shapes); });
  if (status.IsError()) return status;
  if (Armed([&] { return inputs[0].MutableData(); }) == nullptr) return kLiteMemoryFailed;
  std::vector<MSTensor> outputs;
  status = Armed([&] { return model.Predict(inputs, &outputs); });
  if (status.IsError()) return status;
  std::future<Status> future = Armed([&] { return model.PredictAsync(inputs, &outputs); });
  EXPECT_TRUE(future.valid());
  return future.valid() ? future.get() : Status(kLiteMemoryFailed);
}

class OutOfMemory : public testing::TestWithParam<bool> {};

TEST_P(OutOfMemory, EveryAllocationMayFail) {
  const std::string file = SmallModel();
  auto context = std::make_shared<Context>();
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  ASSERT_TRUE(Use(file, context).IsOk());
  stays = GetParam();
  int failures = 0;
  int n = 1;
  for (; n < kMaxAllocations; ++n) {
    left = n;
    const Status status = Use(file, context);
    if (left.exchange(kNever) > 0) break;  // there were fewer allocations than n
    if (status.IsOk()) continue;           // one that the runtime can do without
    ++failures;
    EXPECT_EQ(status.StatusCode(), kLiteMemoryFailed) << "allocation " << n << ": " << status.ToString();
  }
  EXPECT_LT(n, kMaxAllocations);
  EXPECT_GT(failures, 50);
  EXPECT_TRUE(Use(file, context).IsOk());
}

INSTANTIATE_TEST_SUITE_P(OnceOrForGood, OutOfMemory, testing::Bool());

// More than any machine has is refused before it is asked for.
TEST(TooLarge, NamesTheTensor) {
  ModelBuilder model;
  const uint32_t x = model.Value("x", {1 << 19, 1 << 18});
  const uint32_t y = model.Value("y", {1 << 19, 1 << 18});
  model.Node("the_node", schema::CreateAbs(model.builder), {x}, {y});
  model.Graph({x}, {y}, {0});
  const std::string file = model.Finish({x}, {y});
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  Model built;
  Status status = built.Build(file.data(), file.size(), kMindIR_Lite, context);
  if (status.IsOk()) {
    std::vector<MSTensor> outputs;
    std::vector<MSTensor> inputs = built.GetInputs();
    EXPECT_EQ(inputs[0].MutableData(), nullptr);
    status = built.Predict(inputs, &outputs);
  }
  ASSERT_TRUE(status.IsError());
  EXPECT_NE(status.ToString().find("'x'"), std::string::npos) << status.ToString();
}

TEST(OutOfMemoryForTensors, GiveNull) {
  const float value = 1;
  const std::string name = "a name that is too long to be kept inside of the string";
  const std::vector<int64_t> shape = {1};
  int nulls = 0;
  for (int n = 1; n < 10; ++n) {
    left = n;
    MSTensor *tensor =
        Armed([&] { return MSTensor::CreateTensor(name, DataType::kNumberTypeFloat32, shape, &value, sizeof value); });
    left = kNever;
    nulls += tensor == nullptr ? 1 : 0;
    MSTensor::DestroyTensorPtr(tensor);
  }
  EXPECT_GE(nulls, 3);
  EXPECT_LT(nulls, 9);
}
}  // namespace
}  // namespace mslite::test
