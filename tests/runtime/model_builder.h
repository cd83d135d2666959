// Builds small `.ms` files for tests.
#ifndef MSLITE_TESTS_MODEL_BUILDER_H
#define MSLITE_TESTS_MODEL_BUILDER_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schema/ops_generated.h"

namespace mslite {
namespace schema = mindspore::schema;
}

namespace mslite::test {
constexpr int32_t kFloat = 43;
constexpr int32_t kInt = 34;
constexpr int32_t kBool = 30;
constexpr int32_t kInt8 = 32;

class ModelBuilder {
 public:
  // A value; an activation without `dims` is of unknown rank.
  uint32_t Value(const std::string &name, std::vector<int32_t> dims, int32_t type = kFloat) {
    tensors_.push_back(Create(name, dims, type, 2, nullptr, 0));
    return static_cast<uint32_t>(tensors_.size() - 1);
  }

  template <typename T>
  uint32_t Constant(const std::string &name, std::vector<int32_t> dims, const std::vector<T> &values, int32_t type) {
    tensors_.push_back(
        Create(name, dims, type, 0, reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(T)));
    return static_cast<uint32_t>(tensors_.size() - 1);
  }

  uint32_t Floats(const std::string &name, std::vector<int32_t> dims, const std::vector<float> &values) {
    return Constant(name, std::move(dims), values, kFloat);
  }

  // A value, or with `data` a constant, with quantization records (scale, zero point).
  uint32_t Quantized(const char *name, const std::vector<std::pair<double, int32_t>> &records, int32_t type = kInt8,
                     const std::vector<int32_t> &dims = {2, 3}, const std::vector<uint8_t> &data = {}) {
    std::vector<flatbuffers::Offset<schema::QuantParam>> list;
    for (const auto &[scale, zero] : records) list.push_back(schema::CreateQuantParam(builder, scale, zero));
    const auto shape = builder.CreateVector(dims);
    const auto quant = builder.CreateVector(list);
    const auto bytes = data.empty() ? 0 : builder.CreateVector(data);
    return Add(schema::CreateTensor(builder, data.empty() ? 2 : 0, type, shape, schema::Format_NHWC, 0, 0, bytes, quant,
                                    0, builder.CreateString(name)));
  }

  uint32_t Add(flatbuffers::Offset<schema::Tensor> tensor) {
    tensors_.push_back(tensor);
    return static_cast<uint32_t>(tensors_.size() - 1);
  }

  // `op` is what a Create<Op> function of the schema gives.
  template <typename Table>
  uint32_t Node(const std::string &name, flatbuffers::Offset<Table> op, std::vector<uint32_t> inputs,
                std::vector<uint32_t> outputs) {
    return QuantizedNode(name, op, std::move(inputs), std::move(outputs), schema::QuantType_QUANT_NONE);
  }

  template <typename Table>
  uint32_t QuantizedNode(const std::string &name, flatbuffers::Offset<Table> op, std::vector<uint32_t> inputs,
                         std::vector<uint32_t> outputs, schema::QuantType type) {
    const auto primitive = schema::CreatePrimitive(builder, schema::PrimitiveTypeTraits<Table>::enum_value, op.Union());
    nodes_.push_back(schema::CreateCNode(builder, builder.CreateString(name), 0, primitive,
                                         builder.CreateVector(inputs), builder.CreateVector(outputs), type));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  void Graph(std::vector<uint32_t> inputs, std::vector<uint32_t> outputs, std::vector<uint32_t> nodes) {
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < tensors_.size(); ++i) all.push_back(i);
    const std::string name = "graph_" + std::to_string(graphs_.size());
    graphs_.push_back(schema::CreateSubGraph(builder, builder.CreateString(name), builder.CreateVector(inputs),
                                             builder.CreateVector(outputs), builder.CreateVector(nodes),
                                             builder.CreateVector(all)));
  }

  std::string Finish(std::vector<uint32_t> inputs, std::vector<uint32_t> outputs,
                     const std::string &version = "MindSpore Lite 2.7.0") {
    const auto root =
        schema::CreateMetaGraph(builder, 0, builder.CreateString(version), 3, builder.CreateVector(inputs),
                                builder.CreateVector(outputs), 0, builder.CreateVector(nodes_),
                                builder.CreateVector(tensors_), graphs_.empty() ? 0 : builder.CreateVector(graphs_));
    schema::FinishMetaGraphBuffer(builder, root);
    return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  }

  size_t node_count() const { return nodes_.size(); }

  flatbuffers::FlatBufferBuilder builder;

 private:
  flatbuffers::Offset<schema::Tensor> Create(const std::string &name, const std::vector<int32_t> &dims, int32_t type,
                                             int32_t node_type, const uint8_t *data, size_t size) {
    const auto bytes = data == nullptr ? 0 : builder.CreateVector(data, size);
    return schema::CreateTensor(builder, node_type, type, builder.CreateVector(dims), schema::Format_NHWC, 0, 0, bytes,
                                0, 0, builder.CreateString(name));
  }

  std::vector<flatbuffers::Offset<schema::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<schema::CNode>> nodes_;
  std::vector<flatbuffers::Offset<schema::SubGraph>> graphs_;
};

// y = relu(abs(x) * 2 + x) over [rows, columns]: four nodes with a branch.
inline std::string SmallModel(int32_t rows = 4, int32_t columns = 300) {
  ModelBuilder model;
  const uint32_t x = model.Value("x", {rows, columns});
  const uint32_t two = model.Floats("two", {1}, {2.0f});
  const uint32_t a = model.Value("a", {rows, columns});
  const uint32_t b = model.Value("b", {rows, columns});
  const uint32_t c = model.Value("c", {rows, columns});
  const uint32_t y = model.Value("y", {rows, columns});
  model.Node("abs", schema::CreateAbs(model.builder), {x}, {a});
  model.Node("double", schema::CreateMulFusion(model.builder), {a, two}, {b});
  model.Node("add", schema::CreateAddFusion(model.builder), {b, x}, {c});
  model.Node("relu", schema::CreateActivation(model.builder, schema::ActivationType_RELU), {c}, {y});
  model.Graph({x}, {y}, {0, 1, 2, 3});
  return model.Finish({x}, {y});
}

// i = 0; while (i < n) { i += 1; acc += 2 }; y = |acc|. A loop is recursion by tail calls.
inline std::string LoopModel(bool tail_flags) {
  ModelBuilder m;
  auto &b = m.builder;
  const uint32_t n = m.Value("n", {1});
  const uint32_t acc = m.Value("acc", {3});
  const uint32_t y = m.Value("y", {3});
  const uint32_t zero = m.Floats("zero", {1}, {0.0f});
  const uint32_t one = m.Floats("one", {1}, {1.0f});
  const uint32_t two = m.Floats("two", {1}, {2.0f});
  const uint32_t main_partial = m.Value("main_partial", {});
  const auto call = [&](const std::string &name, uint32_t closure, uint32_t result) {
    return m.Node(name, schema::CreateCall(b, tail_flags), {closure}, {result});
  };
  std::vector<uint32_t> main_nodes = {
      m.Node("start", schema::CreatePartialFusion(b, 1), {zero, acc, n}, {main_partial}),
      call("call_start", main_partial, y)};
  // 1: cond(i, a, n)
  const uint32_t ci = m.Value("ci", {1}), ca = m.Value("ca", {3}), cn = m.Value("cn", {1});
  const uint32_t cond = m.Value("cond", {1}, kBool);
  const uint32_t to_body = m.Value("to_body", {}), to_after = m.Value("to_after", {}), chosen = m.Value("chosen", {});
  const uint32_t cy = m.Value("cy", {3});
  std::vector<uint32_t> cond_nodes = {
      m.Node("less", schema::CreateLess(b), {ci, cn}, {cond}),
      m.Node("partial_body", schema::CreatePartialFusion(b, 2), {ci, ca, cn}, {to_body}),
      m.Node("partial_after", schema::CreatePartialFusion(b, 3), {ca}, {to_after}),
      m.Node("switch", schema::CreateSwitch(b), {cond, to_body, to_after}, {chosen}), call("call_switch", chosen, cy)};
  // 2: body(i, a, n)
  const uint32_t bi = m.Value("bi", {1}), ba = m.Value("ba", {3}), bn = m.Value("bn", {1});
  const uint32_t ni = m.Value("ni", {1}), na = m.Value("na", {3}), again = m.Value("again", {}),
                 by = m.Value("by", {3});
  std::vector<uint32_t> body_nodes = {m.Node("next_i", schema::CreateAddFusion(b), {bi, one}, {ni}),
                                      m.Node("next_a", schema::CreateAddFusion(b), {ba, two}, {na}),
                                      m.Node("partial_cond", schema::CreatePartialFusion(b, 1), {ni, na, bn}, {again}),
                                      call("call_cond", again, by)};
  // 3: after(a)
  const uint32_t aa = m.Value("aa", {3}), ay = m.Value("ay", {3});
  std::vector<uint32_t> after_nodes = {m.Node("abs", schema::CreateAbs(b), {aa}, {ay})};
  m.Graph({n, acc}, {y}, main_nodes);
  m.Graph({ci, ca, cn}, {cy}, cond_nodes);
  m.Graph({bi, ba, bn}, {by}, body_nodes);
  m.Graph({aa}, {ay}, after_nodes);
  return m.Finish({n, acc}, {ay});
}
}  // namespace mslite::test

#endif
