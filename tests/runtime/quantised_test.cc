// Calls on quantised integers: only moving values and QuantDTypeCast are allowed.
#include "plan/quantised.h"

#include <gtest/gtest.h>

#include "include/api/model.h"
#include "model_builder.h"
#include "plan/shapes.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

constexpr int32_t kInt8 = 32;
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
  return QuantisedProblem({op, nullptr, 2, 1, inputs, outputs, quant_type});
}

TEST(Quantised, OnlyMovesValuesOfEqualRecords) {
  const mslite_quant half = {0.5, 3, MSLITE_INT8};
  const mslite_quant other = {0.25, 3, MSLITE_INT8};
  const mslite_tensor q = Matrix(MSLITE_INT8, &half);
  const mslite_tensor r = Matrix(MSLITE_INT8, &other);
  const mslite_tensor plain = Matrix(MSLITE_INT8, nullptr);
  const mslite_tensor floats = Matrix(MSLITE_FLOAT32, nullptr);
  EXPECT_NE(Problem(MSLITE_OP_AddFusion, q, q, q).find("arithmetic on quantised integers"), std::string::npos);
  EXPECT_NE(Problem(MSLITE_OP_AddFusion, floats, floats, q), "");
  EXPECT_NE(Problem(MSLITE_OP_AddFusion, plain, plain, plain, kQuantAll), "");
  EXPECT_EQ(Problem(MSLITE_OP_AddFusion, plain, plain, plain), "");
  EXPECT_EQ(Problem(MSLITE_OP_AddFusion, floats, floats, floats, kQuantAll), "");
  EXPECT_EQ(Problem(MSLITE_OP_Concat, q, q, q), "");
  EXPECT_EQ(Problem(MSLITE_OP_Concat, q, q, plain), "");
  EXPECT_NE(Problem(MSLITE_OP_Concat, q, r, q).find("different quantisations"), std::string::npos);
  EXPECT_NE(Problem(MSLITE_OP_Concat, q, q, r), "");
  EXPECT_EQ(Problem(MSLITE_OP_Gather, q, Matrix(MSLITE_INT32, nullptr), q), "");
  EXPECT_EQ(Problem(MSLITE_OP_QuantDTypeCast, q, q, floats), "");
}

// Every node that cannot run is named at once, also where no shape is known yet.
TEST(Quantised, BuildingNamesAllNodes) {
  for (const int32_t rows : {2, -1}) {
    ModelBuilder m;
    const auto value = [&](const char *name, int32_t type) {
      const auto record = schema::CreateQuantParam(m.builder, 0.5, 1);
      const std::vector<flatbuffers::Offset<schema::QuantParam>> records = {record};
      const std::vector<int32_t> dims = {rows, 3};
      const auto shape = m.builder.CreateVector(dims);
      const auto quant = m.builder.CreateVector(records);
      return m.Add(schema::CreateTensor(m.builder, 2, type, shape, schema::Format_NHWC, 0, 0, 0, quant, 0,
                                        m.builder.CreateString(name)));
    };
    const uint32_t x = value("x", kInt8), a = value("a", kInt8), b = value("b", kInt8), y = value("y", kInt8);
    m.Node("sum", schema::CreateAddFusion(m.builder), {x, x}, {a});
    m.Node("flat", schema::CreateFlatten(m.builder, 1), {a}, {b});
    m.Node("rectify", schema::CreateActivation(m.builder, schema::ActivationType_RELU), {b}, {y});
    m.Graph({x}, {y}, {0, 1, 2});
    const std::string file = m.Finish({x}, {y});
    auto context = std::make_shared<Context>();
    context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
    Model model;
    const Status status = model.Build(file.data(), file.size(), kMindIR_Lite, context);
    EXPECT_EQ(status, kLiteNotFindOp);
    const std::string text = status.GetErrDescription();
    EXPECT_NE(text.find("2 node(s)"), std::string::npos) << text;
    EXPECT_NE(text.find("'sum' (AddFusion)"), std::string::npos) << text;
    EXPECT_NE(text.find("'rectify' (Activation)"), std::string::npos) << text;
    EXPECT_EQ(text.find("'flat'"), std::string::npos) << text;
  }
}
}  // namespace
}  // namespace mslite::test
