// Predict allocates nothing once the shapes have been seen: malloc and its relatives are counted.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "include/api/model.h"
#include "model_builder.h"

namespace {
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};
void Count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1);
}
}  // namespace

// Seen by the libraries, too: clang hides them by -fvisibility=hidden, gcc does not.
#pragma GCC visibility push(default)
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  Count();
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  Count();
  return __libc_calloc(count, size);
}
void *realloc(void *pointer, size_t size) {
  Count();
  return __libc_realloc(pointer, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  Count();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#pragma GCC visibility pop

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

int AllocationsOf(int threads, int inter_op) {
  const std::string file = SmallModel(64, 1024);
  auto context = std::make_shared<Context>();
  context->SetThreadNum(threads);
  context->SetInterOpParallelNum(inter_op);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  Model model;
  EXPECT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, context).IsOk());
  const std::vector<float> x(64 * 1024, 1.5f);
  const std::vector<float> z(32 * 1024, 1.5f);
  const std::vector<MSTensor> large = {MSTensor("x", DataType::kNumberTypeFloat32, {64, 1024}, x.data(), x.size() * 4)};
  const std::vector<MSTensor> small = {MSTensor("x", DataType::kNumberTypeFloat32, {32, 1024}, z.data(), z.size() * 4)};
  std::vector<MSTensor> outputs;
  for (const auto &inputs : {large, small}) EXPECT_TRUE(model.Predict(inputs, &outputs).IsOk());
  allocations = 0;
  counting = true;
  for (int i = 0; i < 20; ++i) {
    if (!model.Predict(i % 2 == 0 ? large : small, &outputs).IsOk()) allocations = -1000;
  }
  counting = false;
  return allocations;
}

// Loops hand values over from graph to graph; iterations and runs use the same memory again.
int AllocationsOfLoops() {
  const std::string file = LoopModel(true);
  auto context = std::make_shared<Context>();
  context->SetThreadNum(2);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  Model model;
  EXPECT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, context).IsOk());
  const float few = 2, many = 9;
  const std::vector<float> start = {1, 2, 3};
  const auto inputs = [&](const float *count) -> std::vector<MSTensor> {
    return {MSTensor("n", DataType::kNumberTypeFloat32, {1}, count, 4),
            MSTensor("acc", DataType::kNumberTypeFloat32, {3}, start.data(), 12)};
  };
  const std::vector<MSTensor> shorter = inputs(&few), longer = inputs(&many);
  std::vector<MSTensor> outputs;
  for (const auto &seen : {longer, shorter}) EXPECT_TRUE(model.Predict(seen, &outputs).IsOk());
  allocations = 0;
  counting = true;
  for (int i = 0; i < 20; ++i) {
    if (!model.Predict(i % 2 == 0 ? longer : shorter, &outputs).IsOk()) allocations = -1000;
  }
  counting = false;
  return allocations;
}

// y = x + x of quantized values, through float32.
int AllocationsOfQuantizedModel() {
  ModelBuilder builder;
  const uint32_t x = builder.Quantized("x", {{0.5, 1}}, kInt8, {4, 5000});
  const uint32_t y = builder.Quantized("y", {{0.7, -3}}, kInt8, {4, 5000});
  const uint32_t sum =
      builder.QuantizedNode("sum", schema::CreateAddFusion(builder.builder), {x, x}, {y}, schema::QuantType_QUANT_ALL);
  builder.Graph({x}, {y}, {sum});
  const std::string file = builder.Finish({x}, {y});
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  Model model;
  EXPECT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, context).IsOk());
  const std::vector<int8_t> values(20000, 7);
  const std::vector<MSTensor> inputs = {
      MSTensor("x", DataType::kNumberTypeInt8, {4, 5000}, values.data(), values.size())};
  std::vector<MSTensor> outputs;
  EXPECT_TRUE(model.Predict(inputs, &outputs).IsOk());
  EXPECT_EQ(static_cast<const int8_t *>(outputs[0].Data().get())[9], 6);  // 2 * 0.5 * (7 - 1) / 0.7 is nearly 9
  allocations = 0;
  counting = true;
  for (int i = 0; i < 20; ++i) {
    if (!model.Predict(inputs, &outputs).IsOk()) allocations = -1000;
  }
  counting = false;
  return allocations;
}

TEST(Allocation, IsCounted) {
  counting = true;
  allocations = 0;
  void *volatile pointer = std::malloc(10);
  std::free(pointer);
  counting = false;
  EXPECT_EQ(allocations.load(), 1);
}

// The library's own allocations; without them the tests below would pass whatever it did.
TEST(Allocation, OfTheLibraryIsCounted) {
  const float value = 1;
  const std::string name = "a name that is too long to be kept inside of the string";
  const std::vector<int64_t> shape = {1};
  allocations = 0;
  counting = true;
  MSTensor *tensor = MSTensor::CreateTensor(name, DataType::kNumberTypeFloat32, shape, &value, sizeof value);
  counting = false;
  MSTensor::DestroyTensorPtr(tensor);
  EXPECT_GE(allocations.load(), 3);
}

TEST(Allocation, NoneInPredictOfQuantizedModels) { EXPECT_EQ(AllocationsOfQuantizedModel(), 0); }

TEST(Allocation, NoneInPredict) {
  EXPECT_EQ(AllocationsOf(1, 1), 0);
  EXPECT_EQ(AllocationsOf(2, 1), 0);
  EXPECT_EQ(AllocationsOf(2, 2), 0);
}
TEST(Allocation, LoopsAllocateNothing) { EXPECT_EQ(AllocationsOfLoops(), 0); }
}  // namespace
}  // namespace mslite::test
