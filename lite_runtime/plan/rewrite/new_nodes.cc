#include "plan/rewrite/new_nodes.h"

#include <utility>

#include "model/dequantize.h"
#include "model/loader.h"

namespace mslite {
int32_t NewNodes::Add(Tensor tensor) {
  graph_->tensors.push_back(std::move(tensor));
  return static_cast<int32_t>(graph_->tensors.size()) - 1;
}

int32_t NewNodes::AddValue(const std::string &name, int32_t type) {
  Tensor value;
  value.name = name;
  value.type = type;
  return Add(std::move(value));
}

int32_t NewNodes::AddLike(int32_t tensor, int32_t type, const std::string &suffix) {
  const Tensor &source = graph_->tensors[static_cast<size_t>(tensor)];
  Tensor value;
  value.name = source.name + suffix;
  value.type = type;
  value.format = source.format;
  value.has_rank = source.has_rank;
  value.dims = source.dims;
  return Add(std::move(value));
}

int32_t NewNodes::AddNode(Node node) {
  graph_->nodes.push_back(std::move(node));
  return static_cast<int32_t>(graph_->nodes.size()) - 1;
}

Status NewNodes::AddConstant(const std::string &name, int32_t type, std::vector<int64_t> dims, uint8_t **data,
                             int32_t *index) {
  Tensor made;
  made.name = name;
  made.type = type;
  made.has_rank = made.is_constant = true;
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  made.dims = std::move(dims);
  MSLITE_TRY(AllocateConstant(graph_, name, count, mslite_type_size(type), data));
  made.data = *data;
  made.size = static_cast<size_t>(count * mslite_type_size(type));
  *index = Add(std::move(made));
  return mindspore::kSuccess;
}

Status NewNodes::AddScales(const Tensor &weight, int32_t *index) {
  const std::vector<mslite_quant> records = weight.quant;
  uint8_t *data = nullptr;
  MSLITE_TRY(AddConstant(weight.name + "_scale", MSLITE_FLOAT32, {static_cast<int64_t>(records.size())}, &data, index));
  for (size_t i = 0; i < records.size(); ++i) {
    reinterpret_cast<float *>(data)[i] = static_cast<float>(records[i].scale);
  }
  return mindspore::kSuccess;
}

int32_t NewNodes::AddActivation(const std::string &name, int32_t activation, int32_t input, int32_t output) {
  Node node;
  node.name = name;
  node.op = MSLITE_OP_Activation;
  auto *params = graph_->arena.Make<mslite_Activation>();
  params->activation_type = activation;
  node.params = params;
  node.inputs = {input};
  node.outputs = {output};
  return AddNode(std::move(node));
}

Status NewNodes::AddRows(const std::string &name, int64_t columns, int32_t input, int32_t output, int32_t *index) {
  uint8_t *data = nullptr;
  int32_t shape = 0;
  MSLITE_TRY(AddConstant(name + "_shape", MSLITE_INT64, {2}, &data, &shape));
  auto *sizes = reinterpret_cast<int64_t *>(data);
  sizes[0] = -1;
  sizes[1] = columns;
  Node node;
  node.name = name;
  node.op = MSLITE_OP_Reshape;
  node.params = graph_->arena.Make<mslite_Reshape>();
  node.inputs = {input, shape};
  node.outputs = {output};
  *index = AddNode(std::move(node));
  return mindspore::kSuccess;
}
}  // namespace mslite
