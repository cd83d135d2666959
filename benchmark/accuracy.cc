#include "accuracy.h"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

namespace mslite::benchmark {
namespace {

using mindspore::DataType;
using mindspore::MSTensor;

// The tolerance of MindSpore Lite. Smaller differences count as equal.
constexpr float kAbsoluteTolerance = 1e-8F;
constexpr float kRelativeTolerance = 1e-5F;
constexpr int kPrintedValues = 50;

template <typename T>
void Widen(const MSTensor &tensor, std::vector<float> *values) {
  const auto *data = static_cast<const T *>(tensor.Data().get());
  values->assign(data, data + tensor.ElementNum());
}

double Cosine(const std::vector<float> &a, const std::vector<float> &b) {
  double dot = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  if (aa == 0 || bb == 0) return aa == bb ? 1 : 0;
  return dot / std::sqrt(aa * bb);
}

// Returns true if shapes are equal, without trailing dimensions of 1.
bool SameShape(std::vector<int64_t> a, std::vector<int64_t> b) {
  while (!a.empty() && a.back() == 1) a.pop_back();
  while (!b.empty() && b.back() == 1) b.pop_back();
  return a == b;
}

std::string ShapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace

void PrintInputs(const std::vector<MSTensor> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<float> values;
    std::cout << "InData " << i << ": ";
    if (AsFloats(inputs[i], &values).empty()) {
      for (size_t k = 0; k < values.size() && k < 20; ++k) std::cout << values[k] << " ";
    }
    std::cout << "\n";
  }
}

double MeanBias(const std::vector<float> &got, const std::vector<float> &expected) {
  double sum = 0;
  size_t counted = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i])) return -1;
    const float difference = std::fabs(got[i] - expected[i]);
    const float size = std::fabs(expected[i]);
    if (difference <= kAbsoluteTolerance + kRelativeTolerance * size) continue;
    if (size < FLT_EPSILON) {
      if (difference <= 1e-5F) continue;
      sum += difference;
    } else {
      sum += difference / (size + FLT_MIN);
    }
    ++counted;
  }
  const double mean = counted == 0 ? 0 : sum / static_cast<double>(counted);
  return mean <= 1e-7 ? 0 : mean;
}

std::string ReadExpected(const std::string &path, std::map<std::string, ExpectedTensor> *expected) {
  std::ifstream file(path);
  if (!file) return "cannot read expected outputs " + path;
  std::string line;
  while (std::getline(file, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream head(line);
    std::string name;
    int rank = -1;
    head >> name >> rank;
    ExpectedTensor tensor;
    int64_t count = 1;
    for (int i = 0; i < rank; ++i) {
      int64_t dim = 0;
      head >> dim;
      if (!head || dim <= 0 || count > (int64_t{1} << 31) / dim)
        return path + ": invalid shape of output '" + name + "'";
      tensor.shape.push_back(dim);
      count *= dim;
    }
    if (!head || rank < 0) return path + ": expected a line `name rank d0 d1 ...`, not: " + line.substr(0, 60);
    if (!std::getline(file, line)) return path + ": the values of output '" + name + "' are missing";
    std::istringstream body(line);
    float value = 0;
    std::string word;
    while (body >> word) {
      char *end = nullptr;
      value = std::strtof(word.c_str(), &end);
      if (*end != '\0') return path + ": '" + word + "' in output '" + name + "' is not a number";
      tensor.values.push_back(value);
    }
    if (static_cast<int64_t>(tensor.values.size()) != count) {
      return path + ": output '" + name + "' has " + std::to_string(tensor.values.size()) +
             " values, but its shape has " + std::to_string(count);
    }
    expected->emplace(name, std::move(tensor));  // for equal names, the first one is used
  }
  return expected->empty() ? path + " contains no expected outputs" : "";
}

std::string AsFloats(const MSTensor &tensor, std::vector<float> *values) {
  switch (tensor.DataType()) {
    case DataType::kNumberTypeFloat32:
      Widen<float>(tensor, values);
      break;
    case DataType::kNumberTypeFloat64:
      Widen<double>(tensor, values);
      break;
    case DataType::kNumberTypeBool:
    case DataType::kNumberTypeUInt8:
      Widen<uint8_t>(tensor, values);
      break;
    case DataType::kNumberTypeInt8:
      Widen<int8_t>(tensor, values);
      break;
    case DataType::kNumberTypeInt16:
      Widen<int16_t>(tensor, values);
      break;
    case DataType::kNumberTypeInt32:
      Widen<int32_t>(tensor, values);
      break;
    case DataType::kNumberTypeInt64:
      Widen<int64_t>(tensor, values);
      break;
    default:
      return "output '" + tensor.Name() + "' has data type " + std::to_string(static_cast<int>(tensor.DataType())) +
             ", which cannot be compared";
  }
  return "";
}

std::string CompareOutputs(const Flags &flags, const std::vector<MSTensor> &outputs,
                           const std::map<std::string, ExpectedTensor> &expected) {
  double bias_sum = 0;
  double cosine_sum = 0;
  std::ostringstream cosines;
  std::cout << "================ Comparing Output data ================\n";
  for (const MSTensor &output : outputs) {
    const auto found = expected.find(output.Name());
    if (found == expected.end()) {
      return "the expected outputs do not contain output '" + output.Name() + "' of the model";
    }
    const ExpectedTensor &want = found->second;
    if (!SameShape(output.Shape(), want.shape) || static_cast<size_t>(output.ElementNum()) != want.values.size()) {
      return "output '" + output.Name() + "' has shape " + ShapeText(output.Shape()) + ", expected " +
             ShapeText(want.shape);
    }
    std::vector<float> got;
    const std::string problem = AsFloats(output, &got);
    if (!problem.empty()) return problem;
    std::cout << "Data of node " << output.Name() << " : ";
    for (size_t i = 0; i < got.size() && i < kPrintedValues; ++i) std::cout << got[i] << " ";
    std::cout << "\n";
    const double bias = MeanBias(got, want.values);
    if (bias < 0) return "output '" + output.Name() + "' contains NaN or infinity";
    std::cout << "Mean bias of node/tensor " << output.Name() << " : " << bias * 100 << "%\n";
    const double cosine = Cosine(got, want.values);
    cosines << "Mean cosine distance of node/tensor " << output.Name() << " : " << cosine << "\n";
    bias_sum += bias;
    cosine_sum += cosine;
  }
  const auto count = static_cast<double>(outputs.size());
  const double bias = bias_sum / count * 100;
  const double cosine = cosine_sum / count;
  std::cout << "Mean bias of all nodes/tensors: " << bias << "%\n"
            << "=======================================================\n\n";
  if (flags.cosineDistanceThreshold >= -1) {
    std::cout << "================ Comparing Output data ================\n"
              << cosines.str() << "Cosine distance of all nodes/tensors: " << cosine << "\n"
              << "=======================================================\n\n";
    if (cosine < flags.cosineDistanceThreshold) {
      return "cosine of all outputs " + std::to_string(cosine) + " is below the threshold " +
             std::to_string(flags.cosineDistanceThreshold);
    }
  }
  if (bias > flags.accuracyThreshold) {
    return "mean bias of all outputs " + std::to_string(bias) + "% exceeds the threshold " +
           std::to_string(flags.accuracyThreshold) + "%";
  }
  return "";
}

}  // namespace mslite::benchmark
