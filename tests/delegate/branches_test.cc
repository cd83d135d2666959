// Parts of engines as nodes of the scheduler of branches: at the same time as the CPU where that is allowed, with the
// same results for any number of threads. The engine here computes on the CPU, so that ThreadSanitizer sees all of it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include "engine/costs.h"
#include "engine/engine_delegate.h"
#include "include/api/model.h"
#include "include/registry/register_kernel.h"
#include "include/registry/register_kernel_interface.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT
using kernel::Kernel;

constexpr auto kFloat32 = DataType::kNumberTypeFloat32;
constexpr auto kPatience = std::chrono::seconds(20);

// What is under way, as engines and kernels tell it.
struct Traffic {
  std::atomic<int> in_engine{0};
  std::atomic<int> on_cpu{0};
  std::atomic<int> engine_runs{0};
  std::atomic<int> cpu_runs{0};
  std::atomic<bool> engines_met{false};  // two parts of one engine at a time
  std::atomic<bool> met{false};          // engine and CPU at a time
  std::atomic<int> waits_from{INT_MAX};  // the engine's run from which on each waits for the other
  std::atomic<int> failing_run{-1};      // of the engine, counted from 0

  void Begin(std::atomic<int> *mine, const std::atomic<int> &other) {
    ++*mine;
    const bool waits = engine_runs >= waits_from;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    do {
      if (other.load() > 0) met = true;
      if (waits) std::this_thread::yield();
    } while (waits && !met && std::chrono::steady_clock::now() < end);
  }
};
Traffic *g_traffic = nullptr;

// Computes a few operators on floats.
class SlowPart : public CompiledPart {
 public:
  explicit SlowPart(const Part &part) : part_(part) {}
  Status Prepare() override { return kSuccess; }
  Status Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) override {
    Traffic &traffic = *g_traffic;
    if (traffic.in_engine.load() > 0) traffic.engines_met = true;
    traffic.Begin(&traffic.in_engine, traffic.on_cpu);
    const Status status = Compute(inputs, outputs);
    --traffic.in_engine;
    return status;
  }

 private:
  Status Compute(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) {
    if (g_traffic->engine_runs++ == g_traffic->failing_run) return {kLiteError, "the device is lost"};
    std::map<int32_t, std::vector<float>> values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto *data = static_cast<const float *>(inputs[i]);
      values[part_.inputs[i]].assign(data, data + CountOf(part_.inputs[i]));
    }
    for (const Part::Node &node : part_.nodes) {
      for (const int32_t input : node.inputs) {
        const auto *data = static_cast<const float *>(part_.tensors[static_cast<size_t>(input)].value.data);
        if (data != nullptr) values[input].assign(data, data + CountOf(input));
      }
      const std::vector<float> &a = values[node.inputs[0]];
      const std::vector<float> &b = values[node.inputs.back()];
      std::vector<float> &y = values[node.outputs[0]];
      y.resize(CountOf(node.outputs[0]));
      for (size_t i = 0; i < y.size(); ++i) {
        switch (node.op) {
          case MSLITE_OP_Neg:
            y[i] = -a[i];
            break;
          case MSLITE_OP_Abs:
            y[i] = std::fabs(a[i]);
            break;
          case MSLITE_OP_AddFusion:
            y[i] = a[i] + b[i];
            break;
          default: {  // MatMulFusion of squares
            const auto n = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(y.size()))));
            y[i] = 0;
            for (size_t k = 0; k < n; ++k) y[i] += a[i / n * n + k] * b[k * n + i % n];
          }
        }
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::copy(values[part_.outputs[i]].begin(), values[part_.outputs[i]].end(), static_cast<float *>(outputs[i]));
    }
    return kSuccess;
  }

  size_t CountOf(int32_t tensor) const {
    return static_cast<size_t>(mslite_element_count(&part_.tensors[static_cast<size_t>(tensor)].value));
  }

  const Part &part_;
};

class SlowEngine : public Engine {
 public:
  explicit SlowEngine(bool runs_beside = true, double speed = kFlopsPerSecond)
      : runs_beside_(runs_beside), speed_(speed) {}
  std::string name() const override { return "Slow"; }
  Status Start() override { return kSuccess; }
  std::string UnsupportedReason(const mslite_node &node) const override {
    const std::set<int32_t> known = {MSLITE_OP_Neg, MSLITE_OP_Abs, MSLITE_OP_AddFusion, MSLITE_OP_MatMulFusion};
    return known.count(node.op) != 0 ? "" : "it has no such operator";
  }
  Status Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) override {
    *compiled = std::make_unique<SlowPart>(part);
    return kSuccess;
  }
  bool MayRunInParallel() const override { return runs_beside_; }
  double FlopsPerSecond() const override { return speed_; }

 private:
  bool runs_beside_;
  double speed_;
};

// x, by a kernel that says when it runs.
class Passing : public Kernel {
 public:
  using Kernel::Kernel;
  int Prepare() override { return 0; }
  int ReSize() override { return 0; }
  int Execute() override {
    Traffic &traffic = *g_traffic;
    traffic.Begin(&traffic.on_cpu, traffic.in_engine);
    ++traffic.cpu_runs;
    std::copy_n(static_cast<const float *>(inputs_[0].Data().get()), outputs_[0].ElementNum(),
                static_cast<float *>(outputs_[0].MutableData()));
    --traffic.on_cpu;
    return 0;
  }
};

class SameShape : public kernel::KernelInterface {
 public:
  Status Infer(std::vector<MSTensor> *inputs, std::vector<MSTensor> *outputs, const schema::Primitive *) override {
    (*outputs)[0].SetDataType((*inputs)[0].DataType());
    (*outputs)[0].SetShape((*inputs)[0].Shape());
    return kSuccess;
  }
};

std::shared_ptr<Kernel> MakePassing(const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs,
                                    const schema::Primitive *primitive, const Context *context) {
  return std::make_shared<Passing>(inputs, outputs, primitive, context);
}
std::shared_ptr<kernel::KernelInterface> MakeRule() { return std::make_shared<SameShape>(); }
REGISTER_CUSTOM_KERNEL(CPU, Branches, kFloat32, Passing, MakePassing)
REGISTER_CUSTOM_KERNEL_INTERFACE(Branches, Passing, MakeRule)

class EngineBranches : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MSLITE_DELEGATE_COSTS", "off", 1);
    g_traffic = &traffic_;
  }

  static std::shared_ptr<Context> ContextOf(const std::shared_ptr<Delegate> &delegate, int32_t threads,
                                            int32_t inter_op) {
    auto context = std::make_shared<Context>();
    context->SetThreadNum(threads);
    context->SetInterOpParallelNum(inter_op);
    context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
    context->set_delegate(delegate);
    return context;
  }

  Status Build(const std::string &file, const std::shared_ptr<Context> &context) {
    model_ = std::make_unique<Model>();
    return model_->Build(file.data(), file.size(), kMindIR_Lite, context);
  }

  Status Predict(std::vector<std::vector<float>> *results) {
    std::vector<MSTensor> inputs = model_->GetInputs();
    for (MSTensor &input : inputs) {
      auto *x = static_cast<float *>(input.MutableData());
      for (int64_t i = 0; i < input.ElementNum(); ++i) x[i] = std::sin(static_cast<float>(i + 1));
    }
    std::vector<MSTensor> outputs;
    if (const Status status = model_->Predict(inputs, &outputs); status.IsError()) return status;
    results->clear();
    for (const MSTensor &output : outputs) {
      const auto *y = static_cast<const float *>(output.Data().get());
      results->emplace_back(y, y + output.ElementNum());
    }
    return kSuccess;
  }

  Traffic traffic_;
  std::unique_ptr<Model> model_;
};

// x -> abs -> { neg -> neg, passing } -> add -> y. Passing is of the CPU.
std::string ForkedModel() {
  ModelBuilder m;
  std::map<std::string, uint32_t> at;
  for (const char *name : {"x", "a", "b", "c", "d", "y"}) at[name] = m.Value(name, {4, 4});
  m.Node("abs", schema::CreateAbs(m.builder), {at["x"]}, {at["a"]});
  m.Node("neg", schema::CreateNeg(m.builder), {at["a"]}, {at["b"]});
  m.Node("neg2", schema::CreateNeg(m.builder), {at["b"]}, {at["c"]});
  m.Node("passing", schema::CreateCustom(m.builder, m.builder.CreateString("Passing")), {at["a"]}, {at["d"]});
  m.Node("add", schema::CreateAddFusion(m.builder), {at["c"], at["d"]}, {at["y"]});
  m.Graph({at["x"]}, {at["y"]}, {0, 1, 2, 3, 4});
  return m.Finish({at["x"]}, {at["y"]});
}

// { x1 -> neg -> y1, x2 -> passing -> y2, x3 -> neg -> y3 }: nothing waits for anything.
std::string IndependentModel() {
  ModelBuilder m;
  std::vector<uint32_t> inputs, outputs;
  for (int i = 1; i <= 3; ++i) {
    inputs.push_back(m.Value("x" + std::to_string(i), {8}));
    outputs.push_back(m.Value("y" + std::to_string(i), {8}));
    const std::string name = "node" + std::to_string(i);
    if (i == 2) {
      m.Node(name, schema::CreateCustom(m.builder, m.builder.CreateString("Passing")), {inputs.back()},
             {outputs.back()});
    } else {
      m.Node(name, schema::CreateNeg(m.builder), {inputs.back()}, {outputs.back()});
    }
  }
  m.Graph(inputs, outputs, {0, 1, 2});
  return m.Finish(inputs, outputs);
}

TEST_F(EngineBranches, EngineAndCpuWorkAtTheSameTime) {
  const auto delegate = std::make_shared<EngineDelegate>(std::make_shared<SlowEngine>());
  ASSERT_TRUE(Build(IndependentModel(), ContextOf(delegate, 2, 2)).IsOk());
  traffic_.waits_from = 0;
  std::vector<std::vector<float>> results;
  ASSERT_TRUE(Predict(&results).IsOk());
  EXPECT_TRUE(traffic_.met);
  EXPECT_EQ(traffic_.engine_runs, 2);
  EXPECT_EQ(traffic_.cpu_runs, 1);
  EXPECT_FLOAT_EQ(results[0][0], -std::sin(1.0f));
  EXPECT_FLOAT_EQ(results[1][0], std::sin(1.0f));
}

TEST_F(EngineBranches, OneAfterTheOtherWhereThatIsNotAllowed) {
  std::vector<std::vector<float>> results;
  for (const bool runs_beside : {true, false}) {
    const auto delegate = std::make_shared<EngineDelegate>(std::make_shared<SlowEngine>(runs_beside));
    ASSERT_TRUE(Build(IndependentModel(), ContextOf(delegate, 2, runs_beside ? 1 : 2)).IsOk());
    for (int turn = 0; turn < 20; ++turn) ASSERT_TRUE(Predict(&results).IsOk());
    EXPECT_FALSE(traffic_.met);
  }
}

// An application's delegate, whose kernels share the tensors that they were offered.
class Sharing : public Delegate {
 public:
  Status Init() override { return kSuccess; }
  Status Build(LiteDelegateGraph *model) override {
    const auto supports = [](Kernel *kernel) { return kernel->name() != "node2"; };
    for (const KernelRange range : SupportedRanges(model, supports)) {
      const Border border = BorderOf(model, range);
      const auto begin = model->BeginKernelIterator() + static_cast<ptrdiff_t>(range.begin);
      model->Replace(begin, begin + 1, new Negated(border.inputs, border.outputs, nullptr, nullptr));
    }
    return kSuccess;
  }

 private:
  class Negated : public Kernel {
   public:
    using Kernel::Kernel;
    int Prepare() override { return 0; }
    int ReSize() override { return 0; }
    int Execute() override {
      g_traffic->Begin(&g_traffic->in_engine, g_traffic->on_cpu);
      const auto *x = static_cast<const float *>(inputs_[0].Data().get());
      auto *y = static_cast<float *>(outputs_[0].MutableData());
      for (int64_t i = 0; i < inputs_[0].ElementNum(); ++i) y[i] = -x[i];
      --g_traffic->in_engine;
      return 0;
    }
  };
};

TEST_F(EngineBranches, ADelegateOfTheApplicationKeepsItsOrder) {
  ASSERT_TRUE(Build(IndependentModel(), ContextOf(std::make_shared<Sharing>(), 2, 2)).IsOk());
  std::vector<std::vector<float>> results;
  for (int turn = 0; turn < 20; ++turn) ASSERT_TRUE(Predict(&results).IsOk());
  EXPECT_FALSE(traffic_.met);
  EXPECT_FLOAT_EQ(results[2][1], -std::sin(2.0f));
}

TEST_F(EngineBranches, PartsOfOneEngineTakeTurns) {
  const auto delegate = std::make_shared<EngineDelegate>(std::make_shared<SlowEngine>());
  ASSERT_TRUE(Build(IndependentModel(), ContextOf(delegate, 4, 4)).IsOk());
  std::vector<std::vector<float>> results;
  for (int turn = 0; turn < 200; ++turn) ASSERT_TRUE(Predict(&results).IsOk());
  EXPECT_FALSE(traffic_.engines_met);
}

// What the CPU's branch reads is there when the engine's branch begins: a part ends where they part.
TEST_F(EngineBranches, APartEndsWhereBranchesBegin) {
  const auto parts_of = [&](int32_t inter_op) {
    const auto delegate = std::make_shared<EngineDelegate>(std::make_shared<SlowEngine>());
    EXPECT_TRUE(Build(ForkedModel(), ContextOf(delegate, 2, inter_op)).IsOk());
    std::map<std::string, int32_t> parts;
    for (const Placement &placement : delegate->placements()) parts[placement.node] = placement.part;
    return parts;
  };
  std::vector<std::vector<float>> results, wanted;
  EXPECT_EQ(parts_of(1),
            (std::map<std::string, int32_t>{{"abs", 0}, {"neg", 0}, {"neg2", 0}, {"passing", -1}, {"add", 1}}));
  ASSERT_TRUE(Predict(&wanted).IsOk());
  EXPECT_EQ(parts_of(2),
            (std::map<std::string, int32_t>{{"abs", 0}, {"neg", 1}, {"neg2", 1}, {"passing", -1}, {"add", 2}}));
  traffic_.waits_from = traffic_.engine_runs + 1;  // behind the part that both branches need
  ASSERT_TRUE(Predict(&results).IsOk());
  EXPECT_EQ(results, wanted);
  EXPECT_TRUE(traffic_.met);
}

// x -> abs -> { matmul -> matmul, matmul } -> add -> y, all of the engine.
std::string TwoTowers(int32_t size) {
  ModelBuilder m;
  std::map<std::string, uint32_t> at;
  for (const char *name : {"x", "a", "b", "c", "d", "y"}) at[name] = m.Value(name, {size, size});
  const auto count = static_cast<size_t>(size * size);
  const uint32_t weights = m.Floats("w", {size, size}, std::vector<float>(count, 0.125f));
  m.Node("abs", schema::CreateAbs(m.builder), {at["x"]}, {at["a"]});
  m.Node("left1", schema::CreateMatMulFusion(m.builder), {at["a"], weights}, {at["b"]});
  m.Node("left2", schema::CreateMatMulFusion(m.builder), {at["b"], weights}, {at["c"]});
  m.Node("right", schema::CreateMatMulFusion(m.builder), {at["a"], weights}, {at["d"]});
  m.Node("add", schema::CreateAddFusion(m.builder), {at["c"], at["d"]}, {at["y"]});
  m.Graph({at["x"]}, {at["y"]}, {0, 1, 2, 3, 4});
  return m.Finish({at["x"]}, {at["y"]});
}

TEST_F(EngineBranches, EnableParallelGivesTheCpuABranch) {
  const auto parts_of = [&](bool is_parallel, double speed) {
    const auto delegate = std::make_shared<EngineDelegate>(std::make_shared<SlowEngine>(true, speed));
    const auto context = ContextOf(delegate, 2, 1);
    context->SetEnableParallel(is_parallel);
    EXPECT_TRUE(Build(TwoTowers(64), context).IsOk());
    std::vector<int32_t> parts;
    for (const Placement &placement : delegate->placements()) {
      parts.push_back(placement.part);
      if (placement.part < 0) {
        EXPECT_EQ(placement.reason, "the CPU runs this branch while the backend runs others");
      }
    }
    return parts;
  };
  std::vector<std::vector<float>> results, wanted;
  EXPECT_EQ(parts_of(false, kFlopsPerSecond), (std::vector<int32_t>{0, 0, 0, 0, 0}));
  ASSERT_TRUE(Predict(&wanted).IsOk());
  EXPECT_EQ(parts_of(true, kFlopsPerSecond), (std::vector<int32_t>{0, 1, 1, -1, 2})) << "the smaller branch";
  ASSERT_TRUE(Predict(&results).IsOk());
  for (size_t i = 0; i < wanted[0].size(); ++i)
    EXPECT_NEAR(results[0][i], wanted[0][i], 1e-3f * std::fabs(wanted[0][i]));
  EXPECT_EQ(parts_of(true, 10 * kFlopsPerSecond), (std::vector<int32_t>{0, 0, 0, 0, 0}))
      << "the device is done with both before the CPU would be with one";
  // Another part to wait for takes longer than all of it.
  setenv("MSLITE_DELEGATE_COSTS", "on", 1);
  const auto delegate = std::make_shared<EngineDelegate>(std::make_shared<SlowEngine>());
  const auto context = ContextOf(delegate, 2, 2);
  context->SetEnableParallel(true);
  ASSERT_TRUE(Build(TwoTowers(4), context).IsOk());
  for (const Placement &placement : delegate->placements()) {
    EXPECT_NE(placement.reason, "the CPU runs this branch while the backend runs others");
  }
}

// A graph of nodes of both kinds, whose every value is read by something.
std::string RandomModel(std::mt19937 *random) {
  ModelBuilder m;
  std::vector<uint32_t> values = {m.Value("x", {3, 5})};
  std::vector<bool> is_read = {false};
  std::vector<uint32_t> nodes;
  const auto add = [&](const std::vector<size_t> &inputs, auto op) {
    std::vector<uint32_t> operands;
    for (const size_t input : inputs) {
      operands.push_back(values[input]);
      is_read[input] = true;
    }
    values.push_back(m.Value("t" + std::to_string(values.size()), {3, 5}));
    is_read.push_back(false);
    nodes.push_back(m.Node("n" + std::to_string(nodes.size()), op, operands, {values.back()}));
  };
  for (int i = 0; i < 20; ++i) {
    const size_t a = (*random)() % values.size();
    const size_t b = (*random)() % values.size();
    switch ((*random)() % 5) {
      case 0:
        add({a}, schema::CreateNeg(m.builder));
        break;
      case 1:
        add({a}, schema::CreateAbs(m.builder));
        break;
      case 2:
        add({a, b}, schema::CreateAddFusion(m.builder));
        break;
      case 3:
        add({a}, schema::CreateSin(m.builder));
        break;
      default:
        add({a}, schema::CreateCustom(m.builder, m.builder.CreateString("Passing")));
    }
  }
  std::vector<uint32_t> outputs;
  for (size_t i = 1; i < values.size(); ++i) {
    if (!is_read[i]) outputs.push_back(values[i]);
  }
  m.Graph({values[0]}, outputs, nodes);
  return m.Finish({values[0]}, outputs);
}

TEST_F(EngineBranches, RandomGraphsGiveTheSameForAnyNumberOfThreads) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const std::string file = RandomModel(&random);
    std::vector<std::vector<float>> wanted, results;
    ASSERT_TRUE(Build(file, ContextOf(nullptr, 1, 1)).IsOk());
    ASSERT_TRUE(Predict(&wanted).IsOk());
    for (const int32_t inter_op : {1, 2, 4}) {
      const auto context = ContextOf(std::make_shared<EngineDelegate>(std::make_shared<SlowEngine>()), 4, inter_op);
      context->SetEnableParallel(round % 2 == 0);
      ASSERT_TRUE(Build(file, context).IsOk());
      for (int turn = 0; turn < 3; ++turn) {
        ASSERT_TRUE(Predict(&results).IsOk());
        ASSERT_EQ(results, wanted) << "round " << round << ", " << inter_op << " at a time";
      }
    }
  }
  EXPECT_FALSE(traffic_.engines_met);
}

// Whichever part fails: one error, which names it; what waits for it does not run; the next run is right.
TEST_F(EngineBranches, APartThatFailsEndsTheRun) {
  const auto delegate = std::make_shared<EngineDelegate>(std::make_shared<SlowEngine>());
  ASSERT_TRUE(Build(IndependentModel(), ContextOf(delegate, 2, 2)).IsOk());
  std::vector<std::vector<float>> results;
  for (int run = 0; run < 2; ++run) {
    traffic_.engine_runs = 0;
    traffic_.failing_run = run;
    const Status status = Predict(&results);
    EXPECT_NE(status.GetErrDescription().find("Slow: the device is lost"), std::string::npos)
        << status.GetErrDescription();
    EXPECT_EQ(traffic_.engine_runs, run + 1) << "its lane ends there";
  }
  traffic_.failing_run = -1;
  ASSERT_TRUE(Predict(&results).IsOk());
  EXPECT_FLOAT_EQ(results[2][0], -std::sin(1.0f));
}
}  // namespace
}  // namespace mslite::test
