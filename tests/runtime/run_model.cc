// run_model MODEL.ms OUTPUT_PREFIX THREADS INPUT.npy...: runs a model and writes its outputs as PREFIX_<i>.npy, for the
// tests that compare with recorded outputs. Prints one line per output: name and shape.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "include/api/model.h"

namespace {
using mindspore::DataType;

struct Type {
  const char *descr;
  DataType type;
};
constexpr Type kTypes[] = {
    {"<f4", DataType::kNumberTypeFloat32}, {"<f8", DataType::kNumberTypeFloat64}, {"<f2", DataType::kNumberTypeFloat16},
    {"<i4", DataType::kNumberTypeInt32},   {"<i8", DataType::kNumberTypeInt64},   {"|i1", DataType::kNumberTypeInt8},
    {"|u1", DataType::kNumberTypeUInt8},   {"|b1", DataType::kNumberTypeBool},    {"<i2", DataType::kNumberTypeInt16},
};

[[noreturn]] void Die(const std::string &message) {
  std::cerr << message << "\n";
  std::exit(1);
}

mindspore::MSTensor ReadNpy(const std::string &path, const mindspore::MSTensor &like) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (bytes.size() < 10 || bytes.compare(1, 5, "NUMPY") != 0) Die(path + ": not a .npy file");
  const size_t header_size = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(10, header_size);
  DataType type = DataType::kTypeUnknown;
  for (const Type &entry : kTypes) {
    if (header.find(entry.descr) != std::string::npos) type = entry.type;
  }
  std::vector<int64_t> shape;
  const size_t begin = header.find('(') + 1;
  const std::string dims = header.substr(begin, header.find(')') - begin);
  for (const char *at = dims.c_str(); *at != '\0';) {
    char *end = nullptr;
    const long long dim = std::strtoll(at, &end, 10);
    if (end == at) break;
    shape.push_back(dim);
    at = *end == ',' ? end + 1 : end;
  }
  return mindspore::MSTensor(like.Name(), type, shape, bytes.data() + 10 + header_size,
                             bytes.size() - 10 - header_size);
}

void WriteNpy(const std::string &path, const mindspore::MSTensor &tensor) {
  std::string descr = "|V1";
  for (const Type &entry : kTypes) {
    if (entry.type == tensor.DataType()) descr = entry.descr;
  }
  std::string shape;
  for (const int64_t dim : tensor.Shape()) shape += std::to_string(dim) + ",";
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::ofstream stream(path, std::ios::binary);
  stream.write("\x93NUMPY\x01\x00", 8);
  stream.put(static_cast<char>(header.size() % 256)).put(static_cast<char>(header.size() / 256));
  stream << header;
  stream.write(static_cast<const char *>(tensor.Data().get()), static_cast<std::streamsize>(tensor.DataSize()));
}
}  // namespace

int main(int argc, char **argv) {
  if (argc < 4) Die("usage: run_model MODEL.ms OUTPUT_PREFIX THREADS INPUT.npy...");
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(std::atoi(argv[3]));
  if (std::getenv("INTER_OP") != nullptr) context->SetInterOpParallelNum(std::atoi(std::getenv("INTER_OP")));
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Model model;
  if (auto status = model.Build(std::string(argv[1]), mindspore::kMindIR_Lite, context); !status)
    Die(status.ToString());
  const std::vector<mindspore::MSTensor> own = model.GetInputs();
  if (static_cast<size_t>(argc - 4) != own.size()) Die("the model has " + std::to_string(own.size()) + " inputs");
  std::vector<mindspore::MSTensor> inputs;
  for (int i = 4; i < argc; ++i) inputs.push_back(ReadNpy(argv[i], own[static_cast<size_t>(i - 4)]));
  std::vector<mindspore::MSTensor> outputs;
  if (auto status = model.Predict(inputs, &outputs); !status) Die(status.ToString());
  for (size_t i = 0; i < outputs.size(); ++i) {
    WriteNpy(std::string(argv[2]) + "_" + std::to_string(i) + ".npy", outputs[i]);
    std::cout << outputs[i].Name();
    for (const int64_t dim : outputs[i].Shape()) std::cout << " " << dim;
    std::cout << "\n";
  }
  return 0;
}
