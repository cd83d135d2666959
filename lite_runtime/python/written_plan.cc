#include "written_plan.h"

#include <algorithm>
#include <new>
#include <utility>

#include "convolution/geometry.h"
#include "matmul/geometry.h"
#include "model/names.h"
#include "plan/flops.h"
#include "plan/frame.h"
#include "pooling/geometry.h"

namespace mslite::python {

struct Planning {
  Planning(std::shared_ptr<SharedModel> source, const PlanOptions &wanted)
      : model(std::move(source)),
        options(wanted),
        planner(model.get(), model->programs[0], frame, options, &problems) {}

  std::shared_ptr<SharedModel> model;
  PlanOptions options;
  Frame frame;
  Problems problems;
  Planner planner;
  std::shared_ptr<const Plan> plan;
};

namespace {

ByteString Bytes(const void *data, int64_t size) {
  return size <= 0 ? ByteString() : ByteString(static_cast<const char *>(data), static_cast<size_t>(size));
}

// What `fill` writes into `size` bytes that are 0 before: the same bytes each time, whatever it leaves out.
template <typename Fill>
ByteString Filled(int64_t size, Fill fill) {
  const AlignedBuffer memory = MakeAligned(static_cast<size_t>(std::max(size, int64_t{1})));
  if (memory == nullptr) throw std::bad_alloc();
  std::fill_n(memory.get(), size, uint8_t{0});
  fill(memory.get());
  return Bytes(memory.get(), size);
}

WrittenTensor Describe(const Tensor &source) {
  WrittenTensor tensor;
  tensor.name = source.name;
  tensor.dtype = source.type;
  tensor.dims = source.dims;
  for (const mslite_quant &record : source.quant) {
    tensor.quant.emplace_back(record.scale, record.zero_point, record.source_type);
    tensor.rounds_even = record.rounds_even != 0;
  }
  return tensor;
}

// A call of the plan as kernels see it.
struct Call {
  Call(const Planner &planner, const ProgramStep &source, const Node &from) {
    for (const std::vector<int32_t> *list : {&source.inputs, &source.outputs}) {
      for (const int32_t local : *list) operands.push_back(&planner.tensors()[static_cast<size_t>(local)]);
    }
    node = {from.op,
            from.params,
            static_cast<int32_t>(source.inputs.size()),
            static_cast<int32_t>(source.outputs.size()),
            operands.data(),
            operands.data() + source.inputs.size(),
            from.quant_type};
  }

  std::vector<const mslite_tensor *> operands;
  mslite_node node = {};
};

// Fills derived numbers and schedule.
bool Prepare(const mslite_kernel &kernel, const mslite_node &call, WrittenStep *step) {
  mslite_schedule schedule = {};
  mslite_status status = MSLITE_OK;
  step->derived =
      Filled(kernel.derived_size, [&](uint8_t *derived) { status = kernel.prepare(&call, derived, &schedule); });
  step->parts.assign(schedule.part_count, schedule.part_count + schedule.phase_count);
  step->shared_bytes = schedule.shared_bytes;
  step->scratch_bytes = schedule.scratch_bytes;
  return status == MSLITE_OK;
}

// The two axes of a call's windows, resolved.
struct Windows {
  mslite_axis height = {};
  mslite_axis width = {};
};

bool ResolveWindows(const mslite_node &call, Windows *windows) {
  if (call.op == MSLITE_OP_Conv2DFusion) {
    mslite_convolution geometry = {};
    if (mslite_convolution_of(&call, &geometry) != MSLITE_OK) return false;
    *windows = {geometry.height, geometry.width};
    return true;
  }
  mslite_pooling geometry = {};
  if (mslite_pooling_resolve(call.op, call.params, call.inputs[0], &geometry, nullptr) != MSLITE_OK) return false;
  *windows = {geometry.height, geometry.width};
  return true;
}

bool IsGlobal(const mslite_node &call) {
  if (call.op == MSLITE_OP_AvgPoolFusion) return static_cast<const mslite_AvgPoolFusion *>(call.params)->global;
  if (call.op == MSLITE_OP_MaxPoolFusion) return static_cast<const mslite_MaxPoolFusion *>(call.params)->global;
  return false;
}

bool HasWindows(int32_t op) {
  return op == MSLITE_OP_Conv2DFusion || op == MSLITE_OP_AvgPoolFusion || op == MSLITE_OP_MaxPoolFusion;
}

// Whether the call computes each element from the elements at its place in both inputs, which have the same shape.
bool IsElementwise(const mslite_node &call) {
  if (call.op != MSLITE_OP_AddFusion && call.op != MSLITE_OP_SubFusion && call.op != MSLITE_OP_MulFusion) return false;
  if (call.input_count != 2) return false;
  const mslite_tensor &y = *call.outputs[0];
  return std::all_of(call.inputs, call.inputs + 2, [&](const mslite_tensor *x) {
    return x->data == nullptr && x->rank == y.rank && std::equal(y.dims, y.dims + y.rank, x->dims);
  });
}

// Whether and how the call can be run some rows at a time: all of its inputs that are no constants, in step.
RowWise RowsOf(const mslite_node &call) {
  if (call.input_count < 1 || call.output_count != 1) return {};
  const mslite_tensor &x = *call.inputs[0];
  const mslite_tensor &y = *call.outputs[0];
  if (x.rank != 4 || y.rank != 4 || x.dims[0] != 1 || x.data != nullptr) return {};
  if (IsElementwise(call)) return {1, 1, 0};
  for (int32_t i = 1; i < call.input_count; ++i) {
    if (call.inputs[i]->data == nullptr) return {};
  }
  if (call.op == MSLITE_OP_Activation) return {1, 1, 0};
  Windows windows;
  if (!HasWindows(call.op) || IsGlobal(call) || !ResolveWindows(call, &windows)) return {};
  return {mslite_axis_span(&windows.height), windows.height.stride, windows.height.pad_before};
}

// The parameters of such a call with explicit padding.
class BandParams {
 public:
  BandParams(const mslite_node &call, const Windows &windows, const Band &band)
      : pads_{band.pad_before, band.pad_after, windows.width.pad_before, windows.width.pad_after} {
    const mslite_longs list = {4, pads_};
    if (call.op == MSLITE_OP_Conv2DFusion) {
      convolution_ = *static_cast<const mslite_Conv2DFusion *>(call.params);
      convolution_.pad_mode = MSLITE_PAD_MODE_PAD;
      convolution_.pad_list = list;
      params = &convolution_;
    } else if (call.op == MSLITE_OP_AvgPoolFusion) {
      SetPool(call, list, &average_);
    } else {
      SetPool(call, list, &maximum_);
    }
  }
  BandParams(const BandParams &) = delete;
  BandParams &operator=(const BandParams &) = delete;

  const void *params = nullptr;

 private:
  template <typename Params>
  void SetPool(const mslite_node &call, const mslite_longs &list, Params *pool) {
    *pool = *static_cast<const Params *>(call.params);
    pool->pad_mode = MSLITE_PAD_MODE_PAD;
    pool->round_mode = MSLITE_ROUND_MODE_FLOOR;
    pool->pad = list;
    params = pool;
  }

  int64_t pads_[4];
  mslite_Conv2DFusion convolution_ = {};
  mslite_AvgPoolFusion average_ = {};
  mslite_MaxPoolFusion maximum_ = {};
};

class Writer {
 public:
  Writer(Planning *planning, WrittenPlan *plan)
      : planning_(*planning), model_(*planning->model), main_(model_.programs[0]), plan_(plan) {}

  Status Write(const std::vector<std::vector<int64_t>> &shapes) {
    Problems &problems = planning_.problems;
    FindHopeless(&problems);
    SetShapes(shapes, &planning_.frame);
    Planner &planner = planning_.planner;
    std::shared_ptr<const Plan> &plan = planning_.plan;
    bool needs_data = false;
    MSLITE_TRY(planner.Make(0, &needs_data, &plan));
    const int32_t end = needs_data ? 0 : plan->end - (plan->is_counted ? 1 : 0);
    FindOpen(end, &problems);
    for (const auto &[node, reason] : problems) {
      const Node &source = NodeAt(node);
      plan_->refusals.push_back({source.name, OperatorName(source.op), reason});
    }
    if (!plan_->refusals.empty()) return mindspore::kSuccess;
    WriteTensors(planner);
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      WriteStep(planner, main_.steps[static_cast<size_t>(planner.positions()[i])], plan->steps[i]);
    }
    WriteInterface(planner);
    WriteVariables(planner);
    return mindspore::kSuccess;
  }

 private:
  const Node &NodeAt(int32_t index) const { return model_.graph->nodes[static_cast<size_t>(index)]; }

  // Nodes that cannot run whatever the shapes are.
  void FindHopeless(Problems *problems) const {
    for (const ProgramStep &step : main_.steps) {
      const Node &node = NodeAt(step.node);
      if (step.call >= 0) {
        (*problems)[step.node] = "which steps run is known at run time only";
      } else if (mslite_find_shape_rule(node.op) == nullptr || node.params == nullptr) {
        const std::string type = node.custom_type.empty() ? "" : " '" + node.custom_type + "'";
        (*problems)[step.node] = "this operator" + type + " has no shape rule in this library";
      } else if (!node.problem.empty()) {
        (*problems)[step.node] = node.problem;
      }
    }
  }

  // Planning stops at control flow, and where a shape depends on contents.
  void FindOpen(int32_t end, Problems *problems) const {
    if (end >= static_cast<int32_t>(main_.steps.size())) return;
    const ProgramStep &step = main_.steps[static_cast<size_t>(end)];
    if (problems->count(step.node) == 0) {
      (*problems)[step.node] = "the shapes of its outputs are known at run time only";
    }
  }

  void SetShapes(const std::vector<std::vector<int64_t>> &shapes, Frame *frame) const {
    frame->values.resize(main_.tensors.size());
    const auto shape_of = [&](int32_t local) -> TensorShape & {
      return frame->values[static_cast<size_t>(local)].shape;
    };
    for (const int32_t local : main_.inputs) {
      const int32_t index = main_.tensors[static_cast<size_t>(local)];
      const std::vector<int32_t> &order = model_.graph->inputs;
      const auto place = static_cast<size_t>(std::find(order.begin(), order.end(), index) - order.begin());
      if (place >= shapes.size()) continue;
      TensorShape &shape = shape_of(local);
      shape.type = model_.graph->tensors[static_cast<size_t>(index)].type;
      shape.rank = static_cast<int32_t>(shapes[place].size());
      std::copy(shapes[place].begin(), shapes[place].end(), shape.dims);
    }
    for (const Program::VariableUse &use : main_.reads) {
      const Tensor &initial = Initial(use.variable);
      TensorShape &shape = shape_of(use.local);
      shape.type = initial.type;
      shape.rank = static_cast<int32_t>(initial.dims.size());
      std::copy(initial.dims.begin(), initial.dims.end(), shape.dims);
    }
  }

  const Tensor &Initial(int32_t variable) const {
    const int32_t index = model_.variables[static_cast<size_t>(variable)].initial;
    return model_.graph->tensors[static_cast<size_t>(index)];
  }

  void WriteTensors(const Planner &planner) {
    for (size_t i = 0; i < main_.tensors.size(); ++i) {
      WrittenTensor tensor = Describe(model_.graph->tensors[static_cast<size_t>(main_.tensors[i])]);
      const mslite_tensor &known = planner.tensors()[i];
      tensor.dtype = known.type;
      tensor.dims.assign(known.dims, known.dims + std::max(known.rank, int32_t{0}));
      plan_->tensors.push_back(std::move(tensor));
    }
  }

  void WriteData(const Planner &planner, int32_t local) {
    WrittenTensor &tensor = plan_->tensors[static_cast<size_t>(local)];
    const mslite_tensor &known = planner.tensors()[static_cast<size_t>(local)];
    if (tensor.has_data || known.data == nullptr) return;
    tensor.has_data = true;
    tensor.data = Bytes(known.data, ByteSize(ShapeOf(known)));
  }

  void WriteStep(const Planner &planner, const ProgramStep &source, const Step &step) {
    const Call described(planner, source, *step.node);
    const mslite_node &call = described.node;
    const mslite_kernel &kernel = *step.kernel;
    WrittenStep written;
    written.name = step.node->name;
    written.op = OperatorName(step.node->op);
    written.kernel = kernel.name;
    Prepare(kernel, call, &written);
    written.inputs = source.inputs;
    written.outputs = source.outputs;
    written.in_place = kernel.in_place == nullptr ? -1 : kernel.in_place(&call);
    written.flops = source.outputs.empty() ? 0 : CountFlops(call);
    written.rows = RowsOf(call);
    for (int32_t i = 0; i < call.input_count; ++i) {
      const auto at = static_cast<size_t>(i);
      written.leads.push_back(kernel.lead == nullptr ? -1 : kernel.lead(&call, step.derived, i));
      if (step.inputs[at].place != Operand::kFixed) continue;
      const int64_t packed = kernel.pack_size == nullptr ? 0 : kernel.pack_size(&call, i);
      if (packed > 0) {
        const void *source_data = planner.tensors()[static_cast<size_t>(source.inputs[at])].data;
        written.packed.emplace_back(
            i, Filled(packed, [&](uint8_t *target) { kernel.pack(&call, i, source_data, target); }));
      } else if (packed < 0) {
        written.unread.push_back(i);
      } else {
        WriteData(planner, source.inputs[at]);
      }
    }
    plan_->steps.push_back(std::move(written));
  }

  void WriteInterface(const Planner &planner) {
    for (const int32_t index : model_.graph->inputs) {
      for (const int32_t local : main_.inputs) {
        if (main_.tensors[static_cast<size_t>(local)] == index) plan_->inputs.push_back(local);
      }
    }
    // An assigned variable goes on under another tensor, so outputs are found by their place in the list.
    const std::vector<int32_t> &listed = main_.subgraph->outputs;
    for (const int32_t index : model_.graph->outputs) {
      const auto place = static_cast<size_t>(std::find(listed.begin(), listed.end(), index) - listed.begin());
      if (place >= main_.outputs.size()) continue;
      plan_->outputs.push_back(main_.outputs[place]);
      WriteData(planner, main_.outputs[place]);
    }
  }

  void WriteVariables(const Planner &planner) {
    for (size_t i = 0; i < model_.variables.size(); ++i) {
      const Tensor &initial = Initial(static_cast<int32_t>(i));
      WrittenVariable variable;
      variable.name = model_.variables[i].name;
      variable.initial = Bytes(initial.data, static_cast<int64_t>(initial.size));
      for (const Program::VariableUse &use : main_.reads) {
        if (use.variable == static_cast<int32_t>(i)) variable.reads.push_back(use.local);
      }
      for (const Program::VariableUse &use : main_.writes) {
        if (use.variable != static_cast<int32_t>(i)) continue;
        variable.writes.push_back(use.local);
        WriteData(planner, use.local);
      }
      plan_->variables.push_back(std::move(variable));
    }
  }

  Planning &planning_;
  const SharedModel &model_;
  const Program &main_;
  WrittenPlan *plan_;
};

}  // namespace

std::vector<WrittenTensor> ModelInputs(const SharedModel &model) {
  std::vector<WrittenTensor> inputs;
  for (const int32_t index : model.graph->inputs) {
    inputs.push_back(Describe(model.graph->tensors[static_cast<size_t>(index)]));
  }
  return inputs;
}

Status WritePlan(std::shared_ptr<SharedModel> model, const IsaSet &isas, const KernelList &more,
                 const std::vector<std::vector<int64_t>> &shapes, WrittenPlan *plan) {
  const PlanOptions options = {isas, 1, false, more};
  const auto planning = std::make_shared<Planning>(std::move(model), options);
  plan->planning = planning;
  return Writer(planning.get(), plan).Write(shapes);
}

bool CutRows(const WrittenPlan &plan, size_t step, const Band &band, WrittenStep *cut) {
  const Planning &planning = *plan.planning;
  const Step &whole = planning.plan->steps[step];
  const auto position = static_cast<size_t>(planning.planner.positions()[step]);
  const Call described(planning.planner, planning.model->programs[0].steps[position], *whole.node);
  if (RowsOf(described.node).extent == 0) return false;
  mslite_tensor y = *described.node.outputs[0];
  y.dims[1] = band.rows_out;
  std::vector<const mslite_tensor *> operands = described.operands;
  mslite_tensor sources[2];
  const int32_t source_count = IsElementwise(described.node) ? 2 : 1;
  for (int32_t i = 0; i < source_count; ++i) {
    sources[i] = *operands[static_cast<size_t>(i)];
    sources[i].dims[1] = band.rows_in;
    operands[static_cast<size_t>(i)] = &sources[i];
  }
  operands.back() = &y;
  mslite_node call = described.node;
  call.inputs = operands.data();
  call.outputs = operands.data() + call.input_count;
  Windows windows;
  if (HasWindows(call.op) && !ResolveWindows(described.node, &windows)) return false;
  const BandParams params(call, windows, band);
  if (HasWindows(call.op)) {
    call.params = params.params;
    if (!ResolveWindows(call, &windows) || windows.height.output != band.rows_out) return false;
  } else if (band.rows_in != band.rows_out || band.pad_before != 0 || band.pad_after != 0) {
    return false;
  }
  const mslite_kernel &kernel = *whole.kernel;
  if (kernel.support(&call) <= 0 || !Prepare(kernel, call, cut)) return false;
  for (int32_t i = 0; kernel.pack_size != nullptr && i < call.input_count; ++i) {
    if (kernel.pack_size(&call, i) != kernel.pack_size(&described.node, i)) return false;
  }
  return true;
}

namespace {

// Rows or columns of a matrix of bytes.
struct Matrix {
  int64_t rows, columns;
  bool by_columns;
};

// The matrix of a call's weights, of which each channel is a row or a column;
// no rows: it has none.
Matrix WeightMatrix(const mslite_node &call) {
  const mslite_tensor &weight = *call.inputs[1];
  if (call.op == MSLITE_OP_Conv2DFusion) {
    mslite_convolution geometry = {};
    if (mslite_convolution_of(&call, &geometry) != MSLITE_OK || geometry.group != 1) return {};
    return {weight.dims[0], weight.dims[1] * weight.dims[2] * weight.dims[3], false};
  }
  if (call.op != MSLITE_OP_MatMulFusion && call.op != MSLITE_OP_FullConnection) return {};
  mslite_product_attributes attributes;
  mslite_product_read(call.op, call.params, &attributes);
  if (weight.rank != 2) return {};
  return {weight.dims[0], weight.dims[1], !attributes.transpose_b};
}

// Some channels of a tensor with a record for each of them or for all.
void CutRecords(int64_t first, int64_t count, mslite_tensor *tensor) {
  if (tensor->quant_count <= 1) return;
  tensor->quant += first;
  tensor->quant_count = static_cast<int32_t>(count);
}

}  // namespace

bool CutChannels(const WrittenPlan &plan, size_t step, int64_t first, int64_t count, WrittenStep *cut) {
  const Planning &planning = *plan.planning;
  const Step &whole = planning.plan->steps[step];
  const auto position = static_cast<size_t>(planning.planner.positions()[step]);
  const Call described(planning.planner, planning.model->programs[0].steps[position], *whole.node);
  const mslite_node &from = described.node;
  const mslite_kernel &kernel = *whole.kernel;
  if (from.input_count < 2 || from.output_count != 1 || kernel.pack == nullptr) return false;
  if (from.inputs[1]->data == nullptr || from.inputs[1]->type != MSLITE_INT8) return false;
  const Matrix matrix = WeightMatrix(from);
  const int64_t channels = matrix.by_columns ? matrix.columns : matrix.rows;
  if (first < 0 || count < 1 || first > channels - count) return false;
  std::vector<mslite_tensor> tensors;
  for (const mslite_tensor *operand : described.operands) tensors.push_back(*operand);
  mslite_tensor &weight = tensors[1];
  const auto *bytes = static_cast<const char *>(weight.data);
  ByteString part;
  if (matrix.by_columns) {
    for (int64_t k = 0; k < matrix.rows; ++k) part.append(bytes + k * channels + first, static_cast<size_t>(count));
  } else {
    part.assign(bytes + first * matrix.columns, static_cast<size_t>(count * matrix.columns));
  }
  weight.data = part.data();
  weight.dims[matrix.by_columns ? 1 : 0] = count;
  CutRecords(first, count, &weight);
  if (from.input_count > 2 && tensors[2].data != nullptr) {
    if (tensors[2].rank != 1 || tensors[2].dims[0] != channels) return false;
    tensors[2].data = static_cast<const char *>(tensors[2].data) + first * mslite_type_size(tensors[2].type);
    tensors[2].dims[0] = count;
    CutRecords(first, count, &tensors[2]);
  }
  mslite_tensor &y = tensors.back();
  if (y.rank < 1 || y.dims[y.rank - 1] != channels) return false;
  y.dims[y.rank - 1] = count;
  std::vector<const mslite_tensor *> operands;
  for (const mslite_tensor &tensor : tensors) operands.push_back(&tensor);
  mslite_node call = from;
  call.inputs = operands.data();
  call.outputs = operands.data() + call.input_count;
  if (kernel.support(&call) <= 0 || !Prepare(kernel, call, cut)) return false;
  for (int32_t i = 0; i < call.input_count; ++i) {
    const int64_t size = kernel.pack_size(&call, i);
    if (size <= 0) continue;
    cut->packed.emplace_back(
        i, Filled(size, [&](uint8_t *target) { kernel.pack(&call, i, call.inputs[i]->data, target); }));
  }
  return true;
}

CallNumbers NumbersOfStep(const WrittenPlan &plan, size_t step) {
  const Planning &planning = *plan.planning;
  const Step &whole = planning.plan->steps[step];
  const auto position = static_cast<size_t>(planning.planner.positions()[step]);
  const Call described(planning.planner, planning.model->programs[0].steps[position], *whole.node);
  return NumbersOf(described.node);
}

}  // namespace mslite::python
