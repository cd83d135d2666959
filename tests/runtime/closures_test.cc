// Switches within switches, branches by number, calls that come back, and lists of tensors.
#include <gtest/gtest.h>

#include <cstring>

#include "include/api/model.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

Status Build(const std::string &file, Model *model) {
  auto context = std::make_shared<Context>();
  context->SetThreadNum(2);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  return model->Build(file.data(), file.size(), kMindIR_Lite, context);
}

template <typename T>
MSTensor Input(const std::string &name, DataType type, const std::vector<int64_t> &shape,
               const std::vector<T> &values) {
  return MSTensor(name, type, shape, values.data(), values.size() * sizeof(T));
}

std::vector<float> Floats(const MSTensor &tensor) {
  const auto *data = static_cast<const float *>(tensor.Data().get());
  return {data, data + tensor.ElementNum()};
}

// One graph of one input [2] and one node, whose result it is.
template <typename Table>
void AddBranch(ModelBuilder *m, const std::string &name, flatbuffers::Offset<Table> op) {
  const uint32_t x = m->Value(name + "_x", {2}), y = m->Value(name + "_y", {2});
  const uint32_t node = m->Node(name, op, {x}, {y});
  m->Graph({x}, {y}, {node});
}

uint32_t Partial(ModelBuilder *m, int64_t graph, std::vector<uint32_t> arguments, std::vector<uint32_t> *nodes) {
  const uint32_t closure = m->Value("closure" + std::to_string(nodes->size()), {});
  const std::string name = "partial" + std::to_string(nodes->size());
  nodes->push_back(m->Node(name, schema::CreatePartialFusion(m->builder, graph), std::move(arguments), {closure}));
  return closure;
}

// y = a ? abs(x) : (b ? neg(x) : square(x)); z = abs(y) afterwards: the call comes back.
TEST(Closures, SwitchesWithinSwitches) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {2}), a = m.Value("a", {1}, kBool), b = m.Value("b", {1}, kBool);
  const uint32_t y = m.Value("y", {2}), z = m.Value("z", {2});
  const uint32_t inner = m.Value("inner", {}), outer = m.Value("outer", {});
  std::vector<uint32_t> nodes;
  const uint32_t first = Partial(&m, 1, {x}, &nodes);
  const uint32_t second = Partial(&m, 2, {x}, &nodes);
  const uint32_t third = Partial(&m, 3, {x}, &nodes);
  nodes.push_back(m.Node("inner_switch", schema::CreateSwitch(m.builder), {b, second, third}, {inner}));
  nodes.push_back(m.Node("outer_switch", schema::CreateSwitch(m.builder), {a, first, inner}, {outer}));
  nodes.push_back(m.Node("call", schema::CreateCall(m.builder, false), {outer}, {y}));
  nodes.push_back(m.Node("neg_after", schema::CreateNeg(m.builder), {y}, {z}));
  m.Graph({x, a, b}, {z}, nodes);
  AddBranch(&m, "abs", schema::CreateAbs(m.builder));
  AddBranch(&m, "neg", schema::CreateNeg(m.builder));
  AddBranch(&m, "square", schema::CreateSquare(m.builder));
  Model model;
  const Status built = Build(m.Finish({x, a, b}, {z}), &model);
  ASSERT_TRUE(built.IsOk()) << built.ToString();
  const std::vector<float> values = {-3.0f, 2.0f};
  const auto run = [&](uint8_t first_condition, uint8_t second_condition) {
    std::vector<MSTensor> outputs;
    const Status status = model.Predict({Input<float>("x", DataType::kNumberTypeFloat32, {2}, values),
                                         Input<uint8_t>("a", DataType::kNumberTypeBool, {1}, {first_condition}),
                                         Input<uint8_t>("b", DataType::kNumberTypeBool, {1}, {second_condition})},
                                        &outputs);
    EXPECT_TRUE(status.IsOk()) << status.ToString();
    return Floats(outputs[0]);
  };
  EXPECT_EQ(run(1, 0), (std::vector<float>{-3.0f, -2.0f}));
  EXPECT_EQ(run(0, 1), (std::vector<float>{-3.0f, 2.0f}));
  EXPECT_EQ(run(0, 0), (std::vector<float>{-9.0f, -4.0f}));
  EXPECT_EQ(run(1, 1), (std::vector<float>{-3.0f, -2.0f}));
}

TEST(Closures, BranchesByNumber) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {2}), k = m.Value("k", {1}, kInt), y = m.Value("y", {2});
  const uint32_t chosen = m.Value("chosen", {});
  std::vector<uint32_t> nodes;
  const uint32_t first = Partial(&m, 1, {x}, &nodes);
  const uint32_t second = Partial(&m, 2, {x}, &nodes);
  const uint32_t third = Partial(&m, 3, {x}, &nodes);
  nodes.push_back(m.Node("layer", schema::CreateSwitchLayer(m.builder), {k, first, second, third}, {chosen}));
  nodes.push_back(m.Node("call", schema::CreateCall(m.builder, true), {chosen}, {y}));
  m.Graph({x, k}, {y}, nodes);
  AddBranch(&m, "abs", schema::CreateAbs(m.builder));
  AddBranch(&m, "neg", schema::CreateNeg(m.builder));
  AddBranch(&m, "square", schema::CreateSquare(m.builder));
  Model model;
  ASSERT_TRUE(Build(m.Finish({x, k}, {y}), &model).IsOk());
  const std::vector<float> values = {-3.0f, 2.0f};
  const std::vector<std::vector<float>> wanted = {{3, 2}, {3, -2}, {9, 4}};
  for (const int32_t number : {0, 2, 1, 3, -1}) {
    std::vector<MSTensor> outputs;
    const Status status = model.Predict({Input<float>("x", DataType::kNumberTypeFloat32, {2}, values),
                                         Input<int32_t>("k", DataType::kNumberTypeInt32, {1}, {number})},
                                        &outputs);
    if (number >= 0 && number < 3) {
      ASSERT_TRUE(status.IsOk()) << status.ToString();
      EXPECT_EQ(Floats(outputs[0]), wanted[static_cast<size_t>(number)]);
    } else {
      EXPECT_EQ(status, kLiteOpExecuteFailure);
      EXPECT_NE(status.GetErrDescription().find("node 'layer' (SwitchLayer): there is no branch"), std::string::npos)
          << status.GetErrDescription();
    }
  }
}

// f(x) = x > 0 ? f(x - 1) + 1 : x, by calls that are no tail calls.
std::string Recursion() {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {1}), y = m.Value("y", {1});
  const uint32_t zero = m.Floats("zero", {1}, {0.0f}), one = m.Floats("one", {1}, {1.0f});
  std::vector<uint32_t> main_nodes, f_nodes, step_nodes;
  const uint32_t start = Partial(&m, 1, {x}, &main_nodes);
  main_nodes.push_back(m.Node("start", schema::CreateCall(m.builder, true), {start}, {y}));
  const uint32_t fx = m.Value("fx", {1}), fy = m.Value("fy", {1});
  const uint32_t more = m.Value("more", {1}, kBool), chosen = m.Value("chosen", {});
  f_nodes.push_back(m.Node("greater", schema::CreateGreater(m.builder), {fx, zero}, {more}));
  const uint32_t go_on = Partial(&m, 2, {fx}, &f_nodes);
  const uint32_t end = Partial(&m, 3, {fx}, &f_nodes);
  f_nodes.push_back(m.Node("switch", schema::CreateSwitch(m.builder), {more, go_on, end}, {chosen}));
  f_nodes.push_back(m.Node("choose", schema::CreateCall(m.builder, true), {chosen}, {fy}));
  const uint32_t sx = m.Value("sx", {1}), less = m.Value("less", {1}), inner = m.Value("inner_y", {1});
  const uint32_t sy = m.Value("sy", {1});
  step_nodes.push_back(m.Node("minus", schema::CreateSubFusion(m.builder), {sx, one}, {less}));
  const uint32_t again = Partial(&m, 1, {less}, &step_nodes);
  step_nodes.push_back(m.Node("recurse", schema::CreateCall(m.builder, false), {again}, {inner}));
  step_nodes.push_back(m.Node("plus", schema::CreateAddFusion(m.builder), {inner, one}, {sy}));
  const uint32_t ex = m.Value("ex", {1});
  m.Graph({x}, {y}, main_nodes);
  m.Graph({fx}, {fy}, f_nodes);
  m.Graph({sx}, {sy}, step_nodes);
  m.Graph({ex}, {ex}, {});
  return m.Finish({x}, {y});
}

TEST(Closures, CallsComeBackFromDeepRecursion) {
  Model model;
  const Status built = Build(Recursion(), &model);
  ASSERT_TRUE(built.IsOk()) << built.ToString();
  for (const float depth : {0.5f, 3.25f, 2000.5f, 1.75f}) {
    std::vector<MSTensor> outputs;
    const Status status = model.Predict({Input<float>("x", DataType::kNumberTypeFloat32, {1}, {depth})}, &outputs);
    ASSERT_TRUE(status.IsOk()) << status.ToString();
    EXPECT_EQ(Floats(outputs[0])[0], depth);
  }
  std::vector<MSTensor> outputs;
  const Status status = model.Predict({Input<float>("x", DataType::kNumberTypeFloat32, {1}, {1e6f})}, &outputs);
  EXPECT_EQ(status, kLiteOpExecuteFailure);
  EXPECT_NE(status.GetErrDescription().find("node 'recurse' (Call): more than 4096 nested calls"), std::string::npos)
      << status.GetErrDescription();
  ASSERT_TRUE(model.Predict({Input<float>("x", DataType::kNumberTypeFloat32, {1}, {2.5f})}, &outputs).IsOk());
  EXPECT_EQ(Floats(outputs[0])[0], 2.5f);
}

// A tensor that the file calls a list of floats of unknown shape and number.
uint32_t List(ModelBuilder *m, const std::string &name) {
  const std::vector<int32_t> description = {kFloat, 1, -1, -1};
  std::vector<uint8_t> bytes(description.size() * 4);
  std::memcpy(bytes.data(), description.data(), bytes.size());
  auto &b = m->builder;
  const std::vector<int32_t> dims = {-1};
  return m->Add(schema::CreateTensor(b, 2, 17, b.CreateVector(dims), schema::Format_NHWC, 0, 0, b.CreateVector(bytes),
                                     0, 0, b.CreateString(name)));
}

// list = 4 elements; for (i = 0; i < 4; ++i) list[i] = x * i; y = the list as one tensor.
TEST(Closures, ListsInLoops) {
  ModelBuilder m;
  auto &b = m.builder;
  const uint32_t x = m.Value("x", {-1}), y = m.Value("y", {-1, -1});
  const uint32_t shape = m.Constant<int32_t>("shape", {1}, {-1}, kInt),
                 four = m.Constant<int32_t>("four", {1}, {4}, kInt);
  const uint32_t zero = m.Constant<int32_t>("zero", {1}, {0}, kInt), one = m.Constant<int32_t>("one", {1}, {1}, kInt);
  const uint32_t real = m.Constant<int32_t>("real", {1}, {kFloat}, kInt);
  const uint32_t start = List(&m, "start");
  std::vector<uint32_t> main_nodes, check_nodes, body_nodes, end_nodes;
  main_nodes.push_back(m.Node("reserve", schema::CreateTensorListReserve(b, kFloat, 0), {shape, four}, {start}));
  const uint32_t first = Partial(&m, 1, {zero, start, x}, &main_nodes);
  main_nodes.push_back(m.Node("call", schema::CreateCall(b, true), {first}, {y}));
  const uint32_t ci = m.Value("ci", {1}, kInt), cl = List(&m, "cl"), cx = m.Value("cx", {-1});
  const uint32_t more = m.Value("more", {1}, kBool), chosen = m.Value("chosen", {}), cy = m.Value("cy", {-1, -1});
  check_nodes.push_back(m.Node("less", schema::CreateLess(b), {ci, four}, {more}));
  const uint32_t go_on = Partial(&m, 2, {ci, cl, cx}, &check_nodes);
  const uint32_t leave = Partial(&m, 3, {cl}, &check_nodes);
  check_nodes.push_back(m.Node("switch", schema::CreateSwitch(b), {more, go_on, leave}, {chosen}));
  check_nodes.push_back(m.Node("choose", schema::CreateCall(b, true), {chosen}, {cy}));
  const uint32_t bi = m.Value("bi", {1}, kInt), bl = List(&m, "bl"), bx = m.Value("bx", {-1});
  const uint32_t factor = m.Value("factor", {1}), item = m.Value("item", {-1}), filled = List(&m, "filled");
  const uint32_t next = m.Value("next", {1}, kInt), by = m.Value("by", {-1, -1});
  body_nodes.push_back(m.Node("cast", schema::CreateCast(b), {bi, real}, {factor}));
  body_nodes.push_back(m.Node("times", schema::CreateMulFusion(b), {bx, factor}, {item}));
  body_nodes.push_back(m.Node("set", schema::CreateTensorListSetItem(b, kFloat), {bl, bi, item}, {filled}));
  body_nodes.push_back(m.Node("next", schema::CreateAddFusion(b), {bi, one}, {next}));
  const uint32_t again = Partial(&m, 1, {next, filled, bx}, &body_nodes);
  body_nodes.push_back(m.Node("loop", schema::CreateCall(b, true), {again}, {by}));
  const uint32_t el = List(&m, "el"), ey = m.Value("ey", {-1, -1});
  end_nodes.push_back(m.Node("stack", schema::CreateTensorListStack(b, 4, kFloat), {el, shape}, {ey}));
  m.Graph({x}, {y}, main_nodes);
  m.Graph({ci, cl, cx}, {cy}, check_nodes);
  m.Graph({bi, bl, bx}, {by}, body_nodes);
  m.Graph({el}, {ey}, end_nodes);
  Model model;
  const Status built = Build(m.Finish({x}, {ey}), &model);
  ASSERT_TRUE(built.IsOk()) << built.ToString();
  for (const std::vector<float> &values : std::vector<std::vector<float>>{{1, -2, 3}, {5}, {7, 8}, {4, 5, 6}}) {
    const auto count = static_cast<int64_t>(values.size());
    std::vector<MSTensor> outputs;
    const Status run = model.Predict({Input<float>("x", DataType::kNumberTypeFloat32, {count}, values)}, &outputs);
    ASSERT_TRUE(run.IsOk()) << run.ToString();
    EXPECT_EQ(outputs[0].Shape(), (std::vector<int64_t>{4, count}));
    std::vector<float> wanted;
    for (int row = 0; row < 4; ++row) {
      for (const float value : values) wanted.push_back(value * static_cast<float>(row));
    }
    EXPECT_EQ(Floats(outputs[0]), wanted);
  }
}

// An index that points nowhere is an error with node, input, value and bounds, on any number of threads.
TEST(Closures, IndicesOutsideAreErrors) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {5, 2}), k = m.Value("k", {3}, kInt), y = m.Value("y", {3, 2});
  const uint32_t axis = m.Constant<int32_t>("axis", {1}, {0}, kInt);
  const uint32_t node = m.Node("pick", schema::CreateGather(m.builder), {x, k, axis}, {y});
  m.Graph({x, k}, {y}, {node});
  Model model;
  ASSERT_TRUE(Build(m.Finish({x, k}, {y}), &model).IsOk());
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto run = [&](const std::vector<int32_t> &indices, std::vector<MSTensor> *outputs) {
    return model.Predict({Input<float>("x", DataType::kNumberTypeFloat32, {5, 2}, values),
                          Input<int32_t>("k", DataType::kNumberTypeInt32, {3}, indices)},
                         outputs);
  };
  std::vector<MSTensor> outputs;
  ASSERT_TRUE(run({4, -5, 0}, &outputs).IsOk());
  EXPECT_EQ(Floats(outputs[0]), (std::vector<float>{8, 9, 0, 1, 0, 1}));
  const Status status = run({0, -6, 5}, &outputs);
  EXPECT_EQ(status, kLiteOpExecuteFailure);
  EXPECT_NE(status.GetErrDescription().find(
                "node 'pick' (Gather): its input 1 holds -6 at position 1; it must be between -5 and 4"),
            std::string::npos)
      << status.GetErrDescription();
  ASSERT_TRUE(run({1, 1, 1}, &outputs).IsOk());
  EXPECT_EQ(Floats(outputs[0]), (std::vector<float>{2, 3, 2, 3, 2, 3}));
}
}  // namespace
}  // namespace mslite::test
