#include "inputs.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>

#include "program.h"

namespace mslite::benchmark {
namespace {

using mindspore::DataType;
using mindspore::MSTensor;

std::string Counted(size_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string ParseShape(const std::string &text, std::vector<int64_t> *shape) {
  for (const std::string &word : Split(text, ",")) {
    char *end = nullptr;
    const long long size = std::strtoll(word.c_str(), &end, 10);
    if (*end != '\0' || size <= 0 || size > (1LL << 31)) return "'" + word + "' is not a dimension";
    shape->push_back(size);
  }
  return "";
}

std::string Names(const std::vector<MSTensor> &inputs) {
  std::string names;
  for (const MSTensor &input : inputs) names += (names.empty() ? "'" : ", '") + input.Name() + "'";
  return names;
}

template <typename T, typename Distribution>
void Fill(MSTensor *tensor, Distribution distribution) {
  std::mt19937 engine;  // NOLINT: the default seed gives the same values in every run
  auto *data = static_cast<T *>(tensor->MutableData());
  for (int64_t i = 0; i < tensor->ElementNum(); ++i) data[i] = static_cast<T>(distribution(engine));
}

// Returns the files of --inDataFile, separated by commas or, as in MindSpore Lite, blanks. An existing file with blanks
// in its name is one file.
std::vector<std::string> FilesOf(const std::string &text) {
  std::vector<std::string> files;
  for (const std::string &piece : Split(text, ",")) {
    const std::vector<std::string> words = Split(piece, " \t");
    if (words.size() > 1 && std::ifstream(piece)) {
      files.push_back(piece);
    } else {
      files.insert(files.end(), words.begin(), words.end());
    }
  }
  return files;
}

std::string LoadFile(const std::string &path, MSTensor *tensor) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "cannot read input file " + path;
  const auto size = static_cast<int64_t>(file.tellg());
  const auto expected = static_cast<int64_t>(tensor->DataSize());
  if (size != expected) {
    return "input file " + path + " has " + std::to_string(size) + " bytes, but input '" + tensor->Name() + "' needs " +
           std::to_string(expected);
  }
  file.seekg(0);
  file.read(static_cast<char *>(tensor->MutableData()), expected);
  return file ? "" : "cannot read input file " + path;
}

}  // namespace

void Randomize(MSTensor *tensor) {
  using Integers = std::uniform_int_distribution<int>;
  switch (tensor->DataType()) {
    case DataType::kNumberTypeFloat32:
      return Fill<float>(tensor, std::uniform_real_distribution<float>(0.1F, 1.0F));
    case DataType::kNumberTypeFloat64:
      return Fill<double>(tensor, std::uniform_real_distribution<double>(0.1, 1.0));
    case DataType::kNumberTypeInt8:
      return Fill<int8_t>(tensor, Integers(-127, 127));
    case DataType::kNumberTypeUInt8:
      return Fill<uint8_t>(tensor, Integers(0, 254));
    case DataType::kNumberTypeInt16:
      return Fill<int16_t>(tensor, Integers(0, 1));
    case DataType::kNumberTypeInt32:
      return Fill<int32_t>(tensor, Integers(0, 1));
    case DataType::kNumberTypeInt64:
      return Fill<int64_t>(tensor, Integers(0, 1));
    default: {
      auto *bytes = static_cast<unsigned char *>(tensor->MutableData());
      for (size_t i = 0; i < tensor->DataSize(); ++i) bytes[i] = static_cast<unsigned char>(i);
    }
  }
}

std::string RequestedShapes(const std::string &by_position, const std::string &by_name,
                            const std::vector<MSTensor> &inputs, std::vector<std::vector<int64_t>> *shapes) {
  for (const MSTensor &input : inputs) shapes->push_back(input.Shape());
  if (!by_position.empty()) {
    if (by_position.find_first_not_of("0123456789,:- ") != std::string::npos) {
      return "--inputShapes=" + by_position +
             ": expected sizes separated by commas and shapes by colons, for example 1,8,8,3:1,10; use --inputShape " +
             "for shapes with names";
    }
    const std::vector<std::string> texts = Split(by_position, ":");
    if (texts.size() != inputs.size()) {
      return "--inputShapes has " + Counted(texts.size(), "shape") + ", but the model has " +
             Counted(inputs.size(), "input");
    }
    for (size_t i = 0; i < texts.size(); ++i) {
      (*shapes)[i].clear();
      const std::string problem = ParseShape(texts[i], &(*shapes)[i]);
      if (!problem.empty()) return "--inputShapes: " + problem;
    }
  }
  for (const std::string &entry : Split(by_name, ";")) {
    const size_t colon = entry.rfind(':');
    const std::string name = entry.substr(0, colon);
    bool found = false;
    for (size_t i = 0; i < inputs.size() && colon != std::string::npos; ++i) {
      if (inputs[i].Name() != name) continue;
      found = true;
      (*shapes)[i].clear();
      const std::string problem = ParseShape(entry.substr(colon + 1), &(*shapes)[i]);
      if (!problem.empty()) return "--inputShape: " + problem;
    }
    if (colon == std::string::npos) return "--inputShape: '" + entry + "' is not of the form NAME:1,2,3";
    if (!found) return "--inputShape: the model has no input '" + name + "'; it has " + Names(inputs);
  }
  for (size_t i = 0; i < shapes->size(); ++i) {
    std::vector<int64_t> &shape = (*shapes)[i];
    if (!shape.empty() && shape[0] < 0) {
      std::cerr << "note: the first dimension of input '" << inputs[i].Name()
                << "' is dynamic and set to 1; use --inputShapes for another size\n";
      shape[0] = 1;
    }
    for (size_t k = 0; k < shape.size(); ++k) {
      if (shape[k] <= 0) {
        return "dimension " + std::to_string(k) + " of input '" + inputs[i].Name() +
               "' is dynamic; set it with --inputShapes";
      }
    }
  }
  return "";
}

std::string ResizeTo(const std::vector<std::vector<int64_t>> &shapes, mindspore::Model *model) {
  const std::vector<MSTensor> inputs = model->GetInputs();
  bool resized = false;
  for (size_t i = 0; i < inputs.size(); ++i) resized = resized || inputs[i].Shape() != shapes[i];
  if (!resized) return "";
  for (const auto &shape : shapes) {
    std::cout << "Resize Dims: ";
    for (const int64_t dim : shape) std::cout << dim << " ";
    std::cout << "\n";
  }
  const mindspore::Status status = model->Resize(inputs, shapes);
  return status.IsError() ? Reason(status) : "";
}

std::string FillInputs(const Flags &flags, std::vector<MSTensor> *inputs) {
  const std::vector<std::string> paths = FilesOf(flags.inDataFile);
  if (!flags.inDataFile.empty() && paths.size() != inputs->size()) {
    return "--inDataFile has " + Counted(paths.size(), "file") + ", but the model has " +
           Counted(inputs->size(), "input");
  }
  for (size_t i = 0; i < inputs->size(); ++i) {
    MSTensor &tensor = (*inputs)[i];
    if (tensor.MutableData() == nullptr) return "no memory for input '" + tensor.Name() + "'";
    if (paths.empty()) {
      Randomize(&tensor);
      continue;
    }
    const std::string problem = LoadFile(paths[i], &tensor);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace mslite::benchmark
