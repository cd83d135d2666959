// A convolution and the sum that alone reads it are one call of the plan, wherever that computes the same.
#include "residual_sums.h"

#include <functional>

#include "include/registry/register_kernel.h"

namespace mslite::test {
namespace {
using MakeSum = std::function<uint32_t(SumBuilder *, uint32_t x, uint32_t r)>;

// The model of `build`, which gives the name of the sum. `shown`: the convolution's result is an output, too.
std::string File(const MakeSum &build, bool shown = false, const std::vector<int32_t> &residual = kImage) {
  SumBuilder m;
  const uint32_t x = m.Image("x"), r = m.Image("r", residual);
  const uint32_t y = build(&m, x, r);
  std::vector<uint32_t> outputs = {y};
  if (shown) outputs.push_back(m.shown);
  return m.Main({x, r}, outputs);
}

// What the same nodes compute where nothing can be fused.
std::vector<float> Apart(const MakeSum &build) {
  Planned model(File(build, true));
  EXPECT_EQ(model.Operators().size(), 2u);
  return model.Run()["add_y"];
}

TEST(ResidualSums, AreOneCall) {
  for (const bool has_bias : {true, false}) {
    for (const bool comes_first : {true, false}) {
      for (const auto activation : {schema::ActivationType_NO_ACTIVATION, schema::ActivationType_RELU,
                                    schema::ActivationType_RELU6, schema::ActivationType_TANH}) {
        const MakeSum build = [&](SumBuilder *m, uint32_t x, uint32_t r) {
          m->shown = m->Convolve("conv", x, {has_bias});
          return comes_first ? m->Add("add", m->shown, r, activation) : m->Add("add", r, m->shown, activation);
        };
        Planned model(File(build));
        EXPECT_EQ(model.Operators(), kFused);
        EXPECT_EQ(model.Run()["add_y"], Apart(build));
      }
    }
  }
}

TEST(ResidualSums, BearTheConvolutionsNameAndTheSumsResult) {
  Planned model(File([](SumBuilder *m, uint32_t x, uint32_t r) { return m->Add("add", m->Convolve("conv", x), r); }));
  model.watched = true;
  model.Run();
  EXPECT_EQ(model.calls, std::vector<std::string>{"conv Conv2DAddFusion add_y"});
  EXPECT_EQ(model.model.GetOutputsByNodeName("add").size(), 1u);
  EXPECT_TRUE(model.model.GetOutputsByNodeName("conv").empty());
}

TEST(ResidualSums, StandWhereTheSumStood) {
  const MakeSum build = [](SumBuilder *m, uint32_t x, uint32_t r) {
    m->shown = m->Convolve("conv", x);
    return m->Add("add", m->shown, m->Call("abs", schema::CreateAbs(m->builder), r));
  };
  Planned model(File(build));
  EXPECT_EQ(model.Operators(), (std::vector<std::string>{"Abs", "Conv2DAddFusion"}));
  Planned apart(File(build, true));
  EXPECT_EQ(apart.Operators(), (std::vector<std::string>{"Conv2DFusion", "Abs", "AddFusion"}));
  const std::vector<float> wanted = apart.Run()["add_y"];
  EXPECT_EQ(model.Run()["add_y"], wanted);
  EXPECT_EQ(Planned(File(build), 2, 2).Run()["add_y"], wanted);  // branches at the same time
}

TEST(ResidualSums, OfTwoConvolutionsTakeTheFirstOperand) {
  const MakeSum build = [](SumBuilder *m, uint32_t x, uint32_t r) {
    const uint32_t second = m->Convolve("second", r);
    m->shown = m->Convolve("first", x, {false});
    return m->Add("add", m->shown, second);
  };
  Planned model(File(build));
  model.watched = true;
  const std::vector<float> y = model.Run()["add_y"];
  EXPECT_EQ(model.calls, (std::vector<std::string>{"second Conv2DFusion second_y", "first Conv2DAddFusion add_y"}));
  EXPECT_EQ(y, Planned(File(build, true)).Run()["add_y"]);
}

void ExpectApart(const char *what, const MakeSum &build) {
  Planned model(File(build));
  EXPECT_EQ(model.Operators(), kApart) << what;
}

TEST(ResidualSums, StayApartWhereTheNodesSayMore) {
  const auto with = [](const ConvolutionOptions &options, schema::QuantType quant) -> MakeSum {
    return [=](SumBuilder *m, uint32_t x, uint32_t r) {
      return m->Add("add", m->Convolve("conv", x, options), r, schema::ActivationType_NO_ACTIVATION, quant);
    };
  };
  const auto none = schema::QuantType_QUANT_NONE;
  ExpectApart("activation", with({true, 1, schema::ActivationType_RELU}, none));
  ExpectApart("groups", with({true, 2}, none));
  ExpectApart("depthwise", with({true, 4}, none));
  ExpectApart("kind of the convolution",
              with({true, 1, schema::ActivationType_NO_ACTIVATION, schema::QuantType_QUANT_WEIGHT}, none));
  ExpectApart("kind of the sum", with({}, schema::QuantType_QUANT_WEIGHT));
}

TEST(ResidualSums, StayApartWhereOthersReadTheConvolution) {
  ExpectApart("twice", [](SumBuilder *m, uint32_t x, uint32_t) {
    const uint32_t c = m->Convolve("conv", x);
    return m->Add("add", c, c);
  });
  const MakeSum read = [](SumBuilder *m, uint32_t x, uint32_t r) {
    const uint32_t c = m->Convolve("conv", x), inner = m->Add("inner", c, r);
    return m->Add("add", inner, m->Call("abs", schema::CreateAbs(m->builder), c));
  };
  EXPECT_EQ(Planned(File(read)).Operators(),
            (std::vector<std::string>{"Conv2DFusion", "AddFusion", "Abs", "AddFusion"}));
}

TEST(ResidualSums, StayApartFromConstants) {
  ExpectApart("constant", [](SumBuilder *m, uint32_t x, uint32_t) {
    return m->Add("add", m->Convolve("conv", x), m->Floats("constant", kImage, Wave(kImageSize, 3)));
  });
}

// The result goes to a graph that is called.
TEST(ResidualSums, StayApartWhereASubGraphReadsTheConvolution) {
  SumBuilder m;
  const uint32_t x = m.Image("x"), r = m.Image("r"), closure = m.Value("closure", {}), z = m.Image("z");
  const uint32_t c = m.Convolve("conv", x), y = m.Add("add", c, r);
  m.nodes.push_back(m.Node("partial", schema::CreatePartialFusion(m.builder, 1), {c}, {closure}));
  m.nodes.push_back(m.Node("call", schema::CreateCall(m.builder), {closure}, {z}));
  m.Graph({x, r}, {y, z}, m.nodes);
  const uint32_t a = m.Image("a"), b = m.Image("b");
  const uint32_t abs = m.Node("abs", schema::CreateAbs(m.builder), {a}, {b});
  m.Graph({a}, {b}, {abs});
  Planned model(m.Finish({x, r}, {y, z}));
  EXPECT_EQ(model.Operators(), kApart);
}

TEST(ResidualSums, InSubGraphsAreOneCall) {
  SumBuilder m;
  const uint32_t x = m.Image("x"), r = m.Image("r"), closure = m.Value("closure", {}), z = m.Image("z");
  const std::vector<uint32_t> main = {m.Node("partial", schema::CreatePartialFusion(m.builder, 1), {x, r}, {closure}),
                                      m.Node("call", schema::CreateCall(m.builder), {closure}, {z})};
  m.Graph({x, r}, {z}, main);
  const uint32_t a = m.Image("a"), b = m.Image("b"), y = m.Add("add", m.Convolve("conv", a), b);
  m.Graph({a, b}, {y}, m.nodes);
  Planned model(m.Finish({x, r}, {z}));
  model.watched = true;
  model.Run();
  EXPECT_EQ(model.calls, std::vector<std::string>{"conv Conv2DAddFusion add_y"});
}

// What is broadcast is no residual; which shapes there are, each Resize says again.
TEST(ResidualSums, FollowTheShapes) {
  const MakeSum build = [](SumBuilder *m, uint32_t x, uint32_t r) {
    m->shown = m->Convolve("conv", x);
    return m->Add("add", m->shown, r);
  };
  const std::vector<int64_t> image = {1, 5, 6, 4}, large = {2, 7, 6, 4}, row = {1, 1, 1, 4};
  Planned model(File(build, false, {-1, -1, -1, 4})), apart(File(build, true, {-1, -1, -1, 4}));
  const auto expect = [&](const std::vector<std::vector<int64_t>> &shapes, const std::vector<std::string> &wanted) {
    ASSERT_TRUE(model.model.Resize(model.model.GetInputs(), shapes).IsOk());
    ASSERT_TRUE(apart.model.Resize(apart.model.GetInputs(), shapes).IsOk());
    EXPECT_EQ(model.Operators(), wanted);
    EXPECT_EQ(model.Run()["add_y"], apart.Run()["add_y"]);
  };
  expect({image, row}, kApart);
  expect({image, image}, kFused);
  expect({image, {1, 5, 1, 4}}, kApart);
  expect({large, large}, kFused);
  expect({row, image}, kApart);  // the convolution's result is what is broadcast
  expect({image, image}, kFused);
}

// x is an earlier plan's value, and would die in "negate": the fused call still reads it there.
TEST(ResidualSums, KeepWhatTheConvolutionReads) {
  const auto file = [](bool shown) {
    SumBuilder m;
    auto &b = m.builder;
    const uint32_t x0 = m.Image("x0"), r = m.Image("r"), x = m.Image("x"), z = m.Image("z");
    const uint32_t first = m.Value("first", {}), second = m.Value("second", {});
    m.nodes = {m.Node("partial1", schema::CreatePartialFusion(b, 1), {x0}, {first}),
               m.Node("call1", schema::CreateCall(b), {first}, {x})};
    const uint32_t c = m.Convolve("conv", x), n = m.Call("negate", schema::CreateNeg(b), x), y = m.Add("add", c, r);
    m.nodes.push_back(m.Node("partial2", schema::CreatePartialFusion(b, 1), {n}, {second}));
    m.nodes.push_back(m.Node("call2", schema::CreateCall(b), {second}, {z}));
    std::vector<uint32_t> outputs = {y, z};
    if (shown) outputs.push_back(c);
    m.Graph({x0, r}, outputs, m.nodes);
    const uint32_t i = m.Image("i"), o = m.Image("o");
    const uint32_t abs = m.Node("abs", schema::CreateAbs(b), {i}, {o});
    m.Graph({i}, {o}, {abs});
    return m.Finish({x0, r}, outputs);
  };
  Planned model(file(false)), apart(file(true));
  for (int run = 0; run < 3; ++run) {
    auto got = model.Run(), wanted = apart.Run();
    EXPECT_EQ(got["add_y"], wanted["add_y"]);
    EXPECT_EQ(got["z"], wanted["z"]);
  }
}

// Kernels of others are for the nodes of the file.
class Nothing : public mindspore::kernel::Kernel {
 public:
  using Kernel::Kernel;
  int Prepare() override { return 0; }
  int ReSize() override { return 0; }
  int Execute() override { return 0; }
};
std::shared_ptr<mindspore::kernel::Kernel> MakeNothing(const std::vector<mindspore::MSTensor> &inputs,
                                                       const std::vector<mindspore::MSTensor> &outputs,
                                                       const schema::Primitive *primitive,
                                                       const mindspore::Context *context) {
  return std::make_shared<Nothing>(inputs, outputs, primitive, context);
}
const auto kFloat32Type = mindspore::DataType::kNumberTypeFloat32;
REGISTER_KERNEL(CPU, Convolver, kFloat32Type, schema::PrimitiveType_Conv2DFusion, MakeNothing)
REGISTER_KERNEL(CPU, Adder, kFloat32Type, schema::PrimitiveType_AddFusion, MakeNothing)

TEST(ResidualSums, StayApartWhereOthersHaveKernels) {
  const std::string file =
      File([](SumBuilder *m, uint32_t x, uint32_t r) { return m->Add("add", m->Convolve("conv", x), r); });
  EXPECT_EQ(Planned(file, 1, 1, "Convolver").Operators(), kApart);
  EXPECT_EQ(Planned(file, 1, 1, "Adder").Operators(), kApart);
  EXPECT_EQ(Planned(file, 1, 1, "Nobody").Operators(), kFused);
}
}  // namespace
}  // namespace mslite::test
