// Runs the kernel cases that export_cases.py wrote, on every kernel that this machine has: the kernel tests for
// machines without Python. Prints each failure and a closing line; exits with 1 when something failed or nothing ran.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "model/half.h"
#include "model/unpack.h"
#include "plan/every_kernel.h"
#include "plan/single_node.h"
#include "schema/ops_generated.h"

namespace {

using mslite::Outcome;
using mslite::SingleInput;
using mslite::SingleNode;

constexpr float kLargestHalf = 65504;
// Of the largest number: float16 has 11 bits, and an activation may be much smaller than the sum that it is made of.
// Winograd's F(4 x 4) takes differences of transformed numbers that were rounded.
constexpr double kHalfTolerance = 8e-3;
constexpr double kWinogradTolerance = 2.5e-2;

struct TensorData {
  mslite_tensor tensor{};
  bool constant = false;
  std::vector<uint64_t> storage;  // aligned for every element type
  size_t bytes = 0;
};

struct Case {
  std::string name;
  std::vector<uint64_t> primitive;
  size_t primitive_bytes = 0;
  double tolerance = 0;
  std::vector<TensorData> inputs;
  std::vector<TensorData> outputs;
};

class Reader {
 public:
  explicit Reader(std::vector<char> data) : data_(std::move(data)) {}

  int64_t Number() { return Take<int64_t>(); }
  double Real() { return Take<double>(); }

  size_t Bytes(std::vector<uint64_t> *storage) {
    const auto size = static_cast<size_t>(Number());
    storage->assign(size / 8 + 1, 0);
    std::memcpy(storage->data(), Skip(size), size);
    return size;
  }

  std::string Text() {
    const auto size = static_cast<size_t>(Number());
    return {Skip(size), size};
  }

  const char *Skip(size_t size) {
    if (size > data_.size() - at_) {
      std::fprintf(stderr, "the case file ends early\n");
      std::exit(1);
    }
    const char *here = data_.data() + at_;
    at_ += size;
    return here;
  }

 private:
  template <typename T>
  T Take() {
    T value;
    std::memcpy(&value, Skip(sizeof value), sizeof value);
    return value;
  }

  std::vector<char> data_;
  size_t at_ = 0;
};

TensorData ReadTensor(Reader *reader) {
  TensorData data;
  data.tensor = mslite::UnknownTensor();
  data.tensor.type = static_cast<int32_t>(reader->Number());
  data.tensor.rank = static_cast<int32_t>(reader->Number());
  for (int32_t i = 0; i < data.tensor.rank; ++i) data.tensor.dims[i] = reader->Number();
  data.constant = reader->Number() != 0;
  data.bytes = reader->Bytes(&data.storage);
  return data;
}

Case ReadCase(Reader *reader) {
  Case found;
  found.name = reader->Text();
  found.primitive_bytes = reader->Bytes(&found.primitive);
  found.tolerance = reader->Real();
  for (int64_t i = reader->Number(); i > 0; --i) found.inputs.push_back(ReadTensor(reader));
  for (int64_t i = reader->Number(); i > 0; --i) found.outputs.push_back(ReadTensor(reader));
  return found;
}

template <typename T>
std::string CompareFloats(const void *got, const TensorData &wanted, double tolerance) {
  const auto *a = static_cast<const T *>(got);
  const auto *b = reinterpret_cast<const T *>(wanted.storage.data());
  const size_t count = wanted.bytes / sizeof(T);
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::isfinite(b[i])) largest = std::max(largest, static_cast<double>(std::fabs(b[i])));
  }
  for (size_t i = 0; i < count; ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    const double error = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!same && !(error <= tolerance * largest)) {
      return "element " + std::to_string(i) + " is " + std::to_string(a[i]) + " instead of " + std::to_string(b[i]);
    }
  }
  return "";
}

// float16 results of a call whose operands were rounded to float16, and what they are in float32. Beyond float16's
// range they say nothing.
std::string CompareHalves(const void *got, const TensorData &wanted, double tolerance) {
  const auto *halves = static_cast<const uint16_t *>(got);
  const auto *b = reinterpret_cast<const float *>(wanted.storage.data());
  const size_t count = wanted.bytes / sizeof(float);
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::fabs(b[i]) < kLargestHalf) largest = std::max(largest, static_cast<double>(std::fabs(b[i])));
  }
  for (size_t i = 0; i < count; ++i) {
    const float a = mslite::HalfToFloat(halves[i]);
    if (std::isnan(b[i]) ? std::isnan(a) : !(std::fabs(b[i]) < kLargestHalf)) continue;
    if (!(std::fabs(static_cast<double>(a) - static_cast<double>(b[i])) <= tolerance * largest)) {
      return "element " + std::to_string(i) + " is " + std::to_string(a) + " instead of " + std::to_string(b[i]);
    }
  }
  return "";
}

std::string Compare(const SingleNode &node, size_t index, const TensorData &wanted, double tolerance) {
  const mslite_tensor &got = node.outputs()[index];
  const bool is_rounded = got.type == MSLITE_FLOAT16 && wanted.tensor.type == MSLITE_FLOAT32;
  if (is_rounded && got.rank == wanted.tensor.rank && std::equal(got.dims, got.dims + got.rank, wanted.tensor.dims)) {
    const bool is_winograd = std::strstr(node.kernel()->name, "winograd4") != nullptr;
    return CompareHalves(node.output_data(index), wanted, is_winograd ? kWinogradTolerance : kHalfTolerance);
  }
  if (got.type != wanted.tensor.type || got.rank != wanted.tensor.rank ||
      !std::equal(got.dims, got.dims + got.rank, wanted.tensor.dims)) {
    return "output " + std::to_string(index) + " has another type or shape";
  }
  const void *data = node.output_data(index);
  if (got.type == MSLITE_FLOAT32) return CompareFloats<float>(data, wanted, tolerance);
  if (got.type == MSLITE_FLOAT64) return CompareFloats<double>(data, wanted, tolerance);
  // float16 and complex results are compared by the Python tests; here their kernels only have to be the same as ever.
  if (got.type == MSLITE_FLOAT16 || got.type == MSLITE_COMPLEX64) return "";
  return std::memcmp(data, wanted.storage.data(), wanted.bytes) == 0 ? "" : "other bytes than the reference";
}

// Runs one kernel on one case; "" when all is well. `ran` tells whether the kernel takes the case.
std::string RunKernel(const Case &test, const void *params, const mslite_kernel *kernel, bool *ran) {
  std::vector<SingleInput> inputs;
  for (const TensorData &data : test.inputs) {
    SingleInput input{data.tensor, data.constant};
    input.tensor.data = data.storage.data();
    mslite::FillKnown(&input.tensor);
    inputs.push_back(input);
  }
  SingleNode node(kernel->op, params, inputs, static_cast<int32_t>(test.outputs.size()));
  Outcome outcome = node.Prepare(mslite::DetectedIsas(), kernel);
  if (outcome.status == MSLITE_ERROR_UNSUPPORTED) return "";
  *ran = true;
  for (const mslite::RunOptions &options : {mslite::RunOptions{1, 0, false}, mslite::RunOptions{3, 12, false}}) {
    if (outcome.ok()) outcome = node.RunGuarded(options);
    if (!outcome.ok()) return outcome.message;
    for (size_t i = 0; i < test.outputs.size(); ++i) {
      const std::string problem = Compare(node, i, test.outputs[i], test.tolerance);
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

// The case with its float32 operands in float16: all, or those that are no constants.
Case Halved(Case test, bool constants_too) {
  for (TensorData &data : test.inputs) {
    if (data.tensor.type != MSLITE_FLOAT32 || (data.constant && !constants_too)) continue;
    const size_t count = data.bytes / sizeof(float);
    std::vector<uint64_t> halves(count / 4 + 1);
    for (size_t i = 0; i < count; ++i) {
      float number = 0;
      std::memcpy(&number, reinterpret_cast<const char *>(data.storage.data()) + i * sizeof number, sizeof number);
      const uint16_t half = mslite::FloatToHalf(number);
      std::memcpy(reinterpret_cast<char *>(halves.data()) + i * sizeof half, &half, sizeof half);
    }
    data.tensor.type = MSLITE_FLOAT16;
    data.bytes = count * sizeof(uint16_t);
    data.storage = std::move(halves);
  }
  return test;
}

}  // namespace

int main(int argc, char **argv) {
  std::ifstream file(argc > 1 ? argv[1] : "", std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Reader reader(std::move(bytes));
  if (std::string(reader.Skip(8), 8) != "MSLCASES") {
    std::fprintf(stderr, "usage: run_cases FILE, written by tests.kernels.export_cases\n");
    return 2;
  }
  const std::vector<const mslite_kernel *> kernels = mslite::EveryKernel();
  int passed = 0;
  int failed = 0;
  std::set<std::string> isas;
  for (int64_t cases = reader.Number(); cases > 0; --cases) {
    const Case test = ReadCase(&reader);
    mslite::unpack::Arena arena;
    int32_t op = 0;
    const auto *primitive = flatbuffers::GetRoot<mslite::schema::Primitive>(test.primitive.data());
    const void *params = mslite::unpack::UnpackPrimitive(*primitive, arena, &op);
    for (const mslite_kernel *kernel : kernels) {
      if (kernel->op != op || !mslite::DetectedIsas().Has(kernel->isa)) continue;
      bool ran = false;
      std::string problem = RunKernel(test, params, kernel, &ran);
      for (const bool constants_too : {false, true}) {
        if (ran || kernel->isa != MSLITE_ISA_NEON_FP16) break;
        problem = RunKernel(Halved(test, constants_too), params, kernel, &ran);
      }
      if (!ran && problem.empty()) continue;
      isas.insert(mslite::IsaName(kernel->isa));
      problem.empty() ? ++passed : ++failed;
      if (!problem.empty()) std::printf("%s on %s: %s\n", kernel->name, test.name.c_str(), problem.c_str());
    }
  }
  std::printf("instruction sets:");
  for (const std::string &isa : isas) std::printf(" %s", isa.c_str());
  std::printf("\n%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
