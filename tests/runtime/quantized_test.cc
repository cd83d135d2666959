// Calls on quantized integers: which kernels may run them, and how those of a model become calls on float values.
#include "plan/quantized.h"

#include <gtest/gtest.h>

#include <cmath>

#include "include/api/model.h"
#include "model/load.h"
#include "model_builder.h"
#include "plan/rewrite/expand_quantized.h"
#include "plan/shapes.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

constexpr int32_t kQuantAll = 5;

mslite_tensor Matrix(int32_t type, const mslite_quant *quant) {
  mslite_tensor tensor = UnknownTensor();
  tensor.type = type;
  tensor.rank = 2;
  tensor.dims[0] = tensor.dims[1] = 3;
  tensor.quant_count = quant == nullptr ? 0 : 1;
  tensor.quant = quant;
  return tensor;
}

std::string Problem(int32_t op, const mslite_tensor &a, const mslite_tensor &b, const mslite_tensor &y,
                    int32_t quant_type = 0) {
  const mslite_tensor *inputs[] = {&a, &b};
  const mslite_tensor *outputs[] = {&y};
  return QuantizedProblem({op, nullptr, 2, 1, inputs, outputs, quant_type});
}

TEST(Quantized, KernelsOnlyMoveValuesOfEqualRecords) {
  const mslite_quant half = {0.5, 3, MSLITE_INT8, 0};
  const mslite_quant other = {0.25, 3, MSLITE_INT8, 0};
  const mslite_tensor q = Matrix(MSLITE_INT8, &half);
  const mslite_tensor r = Matrix(MSLITE_INT8, &other);
  const mslite_tensor plain = Matrix(MSLITE_INT8, nullptr);
  const mslite_tensor floats = Matrix(MSLITE_FLOAT32, nullptr);
  EXPECT_NE(Problem(MSLITE_OP_AddFusion, q, q, q).find("no kernel computes"), std::string::npos);
  EXPECT_NE(Problem(MSLITE_OP_AddFusion, floats, floats, q), "");
  EXPECT_NE(Problem(MSLITE_OP_AddFusion, plain, plain, plain, kQuantAll), "");
  EXPECT_EQ(Problem(MSLITE_OP_AddFusion, plain, plain, plain), "");
  EXPECT_EQ(Problem(MSLITE_OP_AddFusion, floats, floats, floats, kQuantAll), "");
  EXPECT_EQ(Problem(MSLITE_OP_Concat, q, q, q), "");
  EXPECT_EQ(Problem(MSLITE_OP_Concat, q, q, plain), "");
  EXPECT_NE(Problem(MSLITE_OP_Concat, q, r, q).find("no kernel requantizes"), std::string::npos);
  EXPECT_NE(Problem(MSLITE_OP_Concat, q, q, r), "");
  EXPECT_EQ(Problem(MSLITE_OP_Gather, q, Matrix(MSLITE_INT32, nullptr), q), "");
  EXPECT_EQ(Problem(MSLITE_OP_QuantDTypeCast, q, q, floats), "");
  EXPECT_EQ(Problem(MSLITE_OP_Cast, q, q, floats), "");
}

// Builds models whose values are quantized.
struct QuantizedModel : ModelBuilder {
  template <typename Table>
  void Call(const char *name, flatbuffers::Offset<Table> op, std::vector<uint32_t> inputs, uint32_t output) {
    calls.push_back(QuantizedNode(name, op, std::move(inputs), {output}, schema::QuantType_QUANT_ALL));
  }

  std::vector<uint32_t> calls;
};

// The names of the operators of the main graph, in order, after expansion.
std::vector<std::string> Expanded(const std::string &file, Status *status) {
  std::shared_ptr<const Bytes> bytes;
  std::shared_ptr<mslite::Graph> graph;
  EXPECT_TRUE(Bytes::Copy(file.data(), file.size(), &bytes).IsOk());
  *status = Load(bytes, &graph);
  EXPECT_TRUE(status->IsOk()) << status->GetErrDescription();
  *status = ExpandQuantized(graph.get());
  std::vector<std::string> names;
  for (const int32_t node : graph->subgraphs[0].nodes) {
    names.push_back(OperatorName(graph->nodes[static_cast<size_t>(node)].op));
  }
  return names;
}

Status BuildFile(const std::string &file) {
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  Model model;
  return model.Build(file.data(), file.size(), kMindIR_Lite, context);
}

TEST(Quantized, OneRealCopyServesAllReaders) {
  QuantizedModel m;
  const uint32_t x = m.Quantized("x", {{0.5, 1}}), a = m.Quantized("a", {{0.5, 1}}), b = m.Quantized("b", {{0.5, 1}}),
                 y = m.Quantized("y", {{0.25, 0}});
  // No integer kernel takes a sum with this activation.
  const auto tanh = schema::ActivationType_TANH;
  m.Call("twice", schema::CreateAddFusion(m.builder, tanh), {x, x}, a);
  m.Call("flat", schema::CreateFlatten(m.builder, 1), {x}, b);
  m.Call("sum", schema::CreateAddFusion(m.builder, tanh), {x, a}, y);
  m.Graph({x}, {y, b}, m.calls);
  Status status;
  EXPECT_EQ(Expanded(m.Finish({x}, {y, b}), &status),
            (std::vector<std::string>{"QuantDTypeCast", "AddFusion", "QuantDTypeCast", "Flatten", "QuantDTypeCast",
                                      "AddFusion", "QuantDTypeCast"}));
  EXPECT_TRUE(status.IsOk());
}

TEST(Quantized, MovedValuesKeepTheirRecord) {
  QuantizedModel m;
  const uint32_t x = m.Quantized("x", {{0.5, 1}}), a = m.Quantized("a", {}), y = m.Quantized("y", {{0.25, 0}});
  m.Call("flat", schema::CreateFlatten(m.builder, 1), {x}, a);
  m.Call("abs", schema::CreateAbs(m.builder), {a}, y);
  m.Graph({x}, {y}, m.calls);
  Status status;
  // A kernel takes the integers of `a`, as it has the record of `x`.
  EXPECT_EQ(Expanded(m.Finish({x}, {y}), &status), (std::vector<std::string>{"Flatten", "Abs"}));
}

// Every node that cannot run is named at once, also where no shape is known yet.
TEST(Quantized, BuildingNamesAllNodes) {
  for (const int32_t rows : {2, -1}) {
    QuantizedModel m;
    const std::vector<int32_t> dims = {rows, 3};
    const uint32_t x = m.Quantized("x", {{std::nan(""), 1}}, kInt8, dims), a = m.Quantized("a", {}, kInt8, dims),
                   b = m.Quantized("b", {{0.5, 1}}, kInt8, dims), y = m.Quantized("y", {{0.5, 200}}, kInt8, dims);
    m.Call("sum", schema::CreateAddFusion(m.builder), {x, x}, a);
    m.Call("flat", schema::CreateFlatten(m.builder, 1), {a}, b);
    m.Call("rectify", schema::CreateActivation(m.builder, schema::ActivationType_RELU), {b}, y);
    m.Graph({x}, {y}, m.calls);
    const Status status = BuildFile(m.Finish({x}, {y}));
    EXPECT_EQ(status, kLiteNotFindOp);
    const std::string text = status.GetErrDescription();
    EXPECT_NE(text.find("2 node(s)"), std::string::npos) << text;
    EXPECT_NE(text.find("'sum' (AddFusion): quantization parameters 0 of 'x' are invalid: scale nan"),
              std::string::npos)
        << text;
    EXPECT_NE(
        text.find("'rectify' (Activation): quantization parameters 0 of 'y' are invalid: scale 0.5, zero point 200"),
        std::string::npos)
        << text;
    EXPECT_EQ(text.find("'flat'"), std::string::npos) << text;
  }
}

TEST(Quantized, RefusesRecordsThatDoNotFit) {
  const auto refused = [](const std::vector<std::pair<double, int32_t>> &input,
                          const std::vector<std::pair<double, int32_t>> &weight,
                          const std::vector<std::pair<double, int32_t>> &bias, const std::string &reason) {
    QuantizedModel m;
    const uint32_t x = m.Quantized("x", input, kInt8, {1, 4});
    const uint32_t w = m.Quantized("w", weight, kInt8, {2, 4}, std::vector<uint8_t>(8, 3));
    const uint32_t b = m.Quantized("b", bias, kInt, {2}, std::vector<uint8_t>(8, 1));
    const uint32_t y = m.Quantized("y", {{0.5, 0}}, kInt8, {1, 2});
    m.Call("dense", schema::CreateFullConnection(m.builder, true), {x, w, b}, y);
    m.Graph({x}, {y}, m.calls);
    const Status status = BuildFile(m.Finish({x}, {y}));
    EXPECT_EQ(status.IsError(), !reason.empty()) << reason << status.GetErrDescription();
    EXPECT_NE(status.GetErrDescription().find(reason), std::string::npos) << status.GetErrDescription();
  };
  refused({{0.5, 0}}, {{0.5, 0}}, {{0.25, 0}}, "");
  refused({{0.5, 0}}, {{0.5, 0}, {0.25, 0}}, {}, "");
  refused({{0.5, 0}}, {{0.5, 0}, {0.25, 0}}, {{0, 0}}, "");
  refused({{0.5, 0}}, {{0.5, 0}, {0.25, 0}, {1, 0}}, {{1, 0}},
          "node 'dense' (FullConnection): 3 quantization parameters");
  refused({{0.5, 0}}, {{-0.5, 0}}, {{1, 0}}, "parameters 0 of 'w' are invalid: scale -0.5");
  refused({{0.5, 0}}, {{INFINITY, 0}}, {{1, 0}}, "parameters 0 of 'w' are invalid: scale inf");
  refused({{0.5, 0}}, {{0.5, -129}}, {{1, 0}}, "zero point -129 for int8");
  refused({{0.5, 0}}, {{0.5, 0}}, {{1, 0}, {1, 0}, {1, 0}},
          "3 quantization parameters do not match the shape of its constant 'b' [2]");
  refused({{0.5, 0}, {1, 0}}, {{0.5, 0}}, {{1, 0}}, "'x' is not a constant but has per-channel");
  refused({}, {{0.5, 0}}, {{1, 0}}, "'x' has no quantization parameters");
}
}  // namespace
}  // namespace mslite::test
