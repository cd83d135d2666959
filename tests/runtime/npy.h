// .npy files as tensors and back, for the programs that the Python tests drive.
#ifndef MSLITE_TESTS_RUNTIME_NPY_H_
#define MSLITE_TESTS_RUNTIME_NPY_H_

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "include/api/model.h"

namespace npy {
using mindspore::DataType;

struct Type {
  const char *descr;
  DataType type;
};
constexpr Type kTypes[] = {
    {"<f4", DataType::kNumberTypeFloat32}, {"<f8", DataType::kNumberTypeFloat64}, {"<f2", DataType::kNumberTypeFloat16},
    {"<i4", DataType::kNumberTypeInt32},   {"<i8", DataType::kNumberTypeInt64},   {"|i1", DataType::kNumberTypeInt8},
    {"|u1", DataType::kNumberTypeUInt8},   {"|b1", DataType::kNumberTypeBool},    {"<i2", DataType::kNumberTypeInt16},
    {"<u2", DataType::kNumberTypeUInt16},
};

[[noreturn]] inline void Die(const std::string &message) {
  std::cerr << message << "\n";
  std::exit(1);
}

inline mindspore::MSTensor Read(const std::string &path, const mindspore::MSTensor &like) {
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

inline void Write(const std::string &path, const mindspore::MSTensor &tensor) {
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
}  // namespace npy

#endif  // MSLITE_TESTS_RUNTIME_NPY_H_
