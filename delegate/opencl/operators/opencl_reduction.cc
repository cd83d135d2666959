// Reductions, ArgMax, ArgMin and TopK.
#include "engine/attributes.h"
#include "opencl/operators/families.h"
#include "reduction/reduce_plan.h"

namespace mslite {
namespace {
struct Mode {
  int32_t mode;
  const char *start;
  const char *combine;  // combines the total t and the value v
  const char *term;     // value of an element v
  const char *finish;   // result for the total t; $ is the number of elements
};

constexpr Mode kModes[] = {
    {MSLITE_REDUCE_MODE_REDUCE_MEAN, "0", "(t)+(v)", "(v)", "(t)/(float)reduced"},
    {MSLITE_REDUCE_MODE_REDUCE_MAX, "load(x, base)", "((v)>(t)||(v)!=(v)?(v):(t))", "(v)", "(t)"},
    {MSLITE_REDUCE_MODE_REDUCE_MIN, "load(x, base)", "((v)<(t)||(v)!=(v)?(v):(t))", "(v)", "(t)"},
    {MSLITE_REDUCE_MODE_REDUCE_PROD, "1", "(t)*(v)", "(v)", "(t)"},
    {MSLITE_REDUCE_MODE_REDUCE_SUM, "0", "(t)+(v)", "(v)", "(t)"},
    {MSLITE_REDUCE_MODE_REDUCE_SUM_SQUARE, "0", "(t)+(v)", "(v)*(v)", "(t)"},
    {MSLITE_REDUCE_MODE_REDUCE_ASUM, "0", "(t)+(v)", "fabs(v)", "(t)"},
    {MSLITE_REDUCE_MODE_REDUCE_L2, "0", "(t)+(v)", "(v)*(v)", "sqrt(t)"},
};

const Mode *ModeOf(const mslite_node &node) {
  const int32_t mode = static_cast<const mslite_ReduceFusion *>(node.params)->mode;
  for (const Mode &known : kModes) {
    if (known.mode == mode) return &known;
  }
  return nullptr;
}

bool PlanOf(const mslite_node &node, mslite_reduce_plan *plan) {
  const auto *params = static_cast<const mslite_ReduceFusion *>(node.params);
  return mslite_plan_reduce(node.inputs[0], HasInput(node, 1) ? node.inputs[1] : nullptr, params->reduce_to_end, plan);
}

std::string WhyNotReduce(const mslite_node &node) {
  mslite_reduce_plan plan;
  if (ModeOf(node) == nullptr) return "no kernel for the reduction";
  if (!PlanOf(node, &plan)) return "the axes are not constant";
  const int32_t type = node.inputs[0]->type;
  if (type == MSLITE_FLOAT32 && node.outputs[0]->type == type) return "";
  const int32_t mode = ModeOf(node)->mode;
  const bool is_exact = mode == MSLITE_REDUCE_MODE_REDUCE_MAX || mode == MSLITE_REDUCE_MODE_REDUCE_MIN ||
                        mode == MSLITE_REDUCE_MODE_REDUCE_SUM || mode == MSLITE_REDUCE_MODE_REDUCE_PROD;
  const bool is_whole = (type == MSLITE_INT32 || type == MSLITE_INT64) && node.outputs[0]->type == type;
  const auto *params = static_cast<const mslite_ReduceFusion *>(node.params);
  return is_exact && is_whole && !params->reduce_to_end ? "" : "the kernel does not support the data type";
}

void PlanReduce(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_ReduceFusion *>(node.params);
  const Mode &mode = *ModeOf(node);
  mslite_reduce_plan p;
  PlanOf(node, &p);
  std::vector<int64_t> shape(p.kept_dims, p.kept_dims + p.kept_rank);
  shape.insert(shape.end(), p.kept_strides, p.kept_strides + p.kept_rank);
  shape.insert(shape.end(), p.run_dims, p.run_dims + p.run_rank);
  shape.insert(shape.end(), p.run_strides, p.run_strides + p.run_rank);
  if (shape.empty()) shape.push_back(0);
  std::string finish = mode.finish;
  if (params->reduce_to_end && params->coeff != 0) finish = "(" + finish + ")*" + std::to_string(params->coeff) + "f";
  int64_t group = 1;
  while (group < 64 && group * 4 <= p.reduced) group *= 2;
  const OpenClOperand numbers = plan->Integers(shape);
  OpenClLaunch &launch = plan->Launch("reduction", "reduce");
  launch.Define("GROUP", group).Define("START", mode.start);
  launch.Define("COMBINE(t,v)", mode.combine).Define("TERM(v)", mode.term).Define("FINISH(t)", finish);
  launch.Input("x", plan->Input(0))
      .Output("y", plan->Output())
      .Buffer(numbers)
      .Integer(p.kept_rank)
      .Integer(p.run_rank);
  launch.Integer(p.inner)
      .Integer(p.length)
      .Integer(p.length_stride)
      .Integer(p.reduced)
      .Groups(p.outer * p.inner, group);
}

std::string WhyNotArg(const mslite_node &node) {
  const ArgAttributes attributes = ArgOf(node);
  if (attributes.axis < 0 || !attributes.is_first_index || node.output_count != 1)
    return "it returns more than one index";
  return node.inputs[0]->type == MSLITE_FLOAT32 && node.outputs[0]->type == MSLITE_INT32 ? ""
                                                                                         : "an input is not float32";
}

void PlanArg(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const int32_t axis = ArgOf(node).axis;
  int64_t inner = 1;
  for (int32_t i = axis + 1; i < x.rank; ++i) inner *= x.dims[i];
  const int64_t count = CountOf(x) / x.dims[axis];
  OpenClLaunch &launch = plan->Launch("reduction", "arg");
  launch.Define("ARG", 1).Define("BEFORE(a,b)", node.op == MSLITE_OP_ArgMaxFusion ? "((a)>(b))" : "((a)<(b))");
  launch.Input("x", plan->Input(0))
      .Output("y", plan->Output())
      .Integer(x.dims[axis])
      .Integer(inner)
      .Integer(count)
      .Items(count);
}

int32_t TopKAxis(const mslite_node &node) {
  return mslite_normalize_axis(static_cast<const mslite_TopKFusion *>(node.params)->axis, node.inputs[0]->rank);
}

std::string WhyNotTopK(const mslite_node &node) {
  constexpr int64_t kLongest = 4096;  // the kernel compares each element with all others of its row
  const mslite_tensor &x = *node.inputs[0];
  const int32_t axis = TopKAxis(node);
  if (axis < 0) return "the axis is out of range";
  if (x.dims[axis] > kLongest) return "a row has more than " + std::to_string(kLongest) + " elements";
  const bool has_type = x.type == MSLITE_FLOAT32 || x.type == MSLITE_INT32;
  const bool has_index = node.output_count < 2 || node.outputs[1]->type == MSLITE_INT32;
  return has_type && has_index && node.outputs[0]->type == x.type ? "" : "the kernel does not support the data type";
}

void PlanTopK(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const int32_t axis = TopKAxis(node);
  int64_t inner = 1;
  for (int32_t i = axis + 1; i < x.rank; ++i) inner *= x.dims[i];
  const int64_t count = CountOf(x);
  const bool is_largest = static_cast<const mslite_TopKFusion *>(node.params)->largest >= 0;
  OpenClLaunch &launch = plan->Launch("reduction", "top_k");
  launch.Define("TOP_K", 1).Define("BEFORE(a,b)", is_largest ? "((a)>(b))" : "((a)<(b))");
  launch.Define("NAN_FIRST", is_largest ? 1 : 0);
  launch.Input("x", plan->Input(0)).Output("y", plan->Output());
  if (node.output_count > 1) launch.Output("indices", plan->Output(1));
  launch.Integer(x.dims[axis]).Integer(inner).Integer(node.outputs[0]->dims[axis]).Integer(count).Items(count);
  launch.Touches(0, count * (x.dims[axis] + 1));
}

constexpr OpenClOperator kReductionOperators[] = {
    {MSLITE_OP_ReduceFusion, WhyNotReduce, PlanReduce},
    {MSLITE_OP_ArgMaxFusion, WhyNotArg, PlanArg},
    {MSLITE_OP_ArgMinFusion, WhyNotArg, PlanArg},
    {MSLITE_OP_TopKFusion, WhyNotTopK, PlanTopK},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenClOperator *OpenClReduction() { return kReductionOperators; }
}  // namespace mslite
