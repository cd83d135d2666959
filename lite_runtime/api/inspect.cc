// InspectPlan, InspectPlacement and InspectEngines.
#include "include/mslite/inspect.h"

#include <algorithm>
#include <map>

#include "api/log.h"
#include "api/model_impl.h"
#include "api/shared_models.h"
#include "model/message.h"
#include "model/names.h"
#include "plan/work.h"
#include "registry/engines.h"

namespace mindspore {
// Access to the implementation of a Model.
class ModelInspector {
 public:
  static const ModelImpl *Inside(const Model &model) { return model.impl_.get(); }
  static const mslite::Session *SessionOf(const Model &model) {
    return model.impl_ == nullptr ? nullptr : model.impl_->session();
  }
};
}  // namespace mindspore

namespace mslite {
namespace {

mslite_tensor ToTensor(const TensorShape &shape) {
  mslite_tensor tensor{};
  tensor.type = shape.type;
  tensor.rank = shape.rank;
  std::copy(shape.dims, shape.dims + MSLITE_MAX_RANK, tensor.dims);
  tensor.known_count = -1;
  return tensor;
}

// An execution step as a node with known shapes, for counting operations.
class StepNode {
 public:
  explicit StepNode(const Step &step) {
    for (const TensorShape &shape : step.input_shapes) inputs_.push_back(ToTensor(shape));
    for (const TensorShape &shape : step.output_shapes) outputs_.push_back(ToTensor(shape));
    for (const mslite_tensor &tensor : inputs_) input_pointers_.push_back(&tensor);
    for (const mslite_tensor &tensor : outputs_) output_pointers_.push_back(&tensor);
    node_.op = step.node->op;
    node_.params = step.node->params;
    node_.input_count = static_cast<int32_t>(inputs_.size());
    node_.output_count = static_cast<int32_t>(outputs_.size());
    node_.inputs = input_pointers_.data();
    node_.outputs = output_pointers_.data();
  }

  const mslite_node &node() const { return node_; }

 private:
  std::vector<mslite_tensor> inputs_;
  std::vector<mslite_tensor> outputs_;
  std::vector<const mslite_tensor *> input_pointers_;
  std::vector<const mslite_tensor *> output_pointers_;
  mslite_node node_{};
};

int64_t Bytes(const TensorShape &shape) {
  const mslite_tensor tensor = ToTensor(shape);
  return mslite_element_count(&tensor) * mslite_type_size(shape.type);
}

// Adds the buffers of the arena, from the step that writes a buffer to the last step that reads it.
void AddBuffers(const Plan &plan, const Graph &graph, int32_t first_step, std::vector<BufferInfo> *buffers) {
  std::map<int64_t, size_t> at;  // offset -> index of the current buffer at this offset
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step &step = plan.steps[i];
    const int32_t position = first_step + static_cast<int32_t>(i);
    for (const Operand &input : step.inputs) {
      if (input.place == Operand::kArena && at.count(input.at) != 0) (*buffers)[at[input.at]].last_step = position;
    }
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      if (step.outputs[k].place != Operand::kArena) continue;
      const std::string &name = graph.tensors[static_cast<size_t>(step.node->outputs[k])].name;
      at[step.outputs[k].at] = buffers->size();
      buffers->push_back({name, step.outputs[k].at, Bytes(step.output_shapes[k]), position, position});
    }
    const auto workspace = [&](const char *what, int64_t offset, int64_t bytes) {
      if (bytes > 0) buffers->push_back({step.node->name + what, offset, bytes, position, position});
    };
    workspace(" (workspace)", step.shared_offset, step.schedule.shared_bytes);
    workspace(" (scratch)", step.scratch_offset, step.schedule.scratch_bytes);
  }
}

// Adds the nodes that were offered to one more backend: those that no previous backend supports, in the same order, and
// one node for each partition of the previous backends.
void AddEngine(const PlacementReporter &placing, std::vector<NodePlacement> *nodes) {
  const bool is_first = nodes->empty();
  size_t next = 0;
  for (const Placement &offered : placing.placements()) {
    if (is_first) {
      nodes->push_back({offered.node, offered.op, "CPU", -1, "", offered.flops});
      next = nodes->size() - 1;
    } else {
      const auto is_it = [&](const NodePlacement &one) { return one.engine == "CPU" && one.node == offered.node; };
      const auto begin = nodes->begin() + static_cast<std::ptrdiff_t>(next);
      const auto place = std::find_if(begin, nodes->end(), is_it);
      if (place == nodes->end()) continue;  // a partition of another backend
      next = static_cast<size_t>(place - nodes->begin());
    }
    NodePlacement &node = (*nodes)[next++];
    node.flops = std::max(node.flops, offered.flops);
    if (offered.reason.empty()) {
      node.engine = placing.engine_name();
      node.part = offered.part;
      node.reason.clear();
    } else {
      const std::string engine = placing.engine_name();
      node.reason += (node.reason.empty() ? "" : "; ") + engine.substr(0, engine.find(" (")) + ": " + offered.reason;
    }
  }
}

// Marks nodes that run on kernels of the application.
void AddRegistered(const Session &session, std::vector<NodePlacement> *nodes) {
  for (const Plan *plan : session.LatestPlans()) {
    for (const Step &step : plan->steps) {
      if (step.registered == nullptr || step.node->part >= 0) continue;
      const auto place = std::find_if(nodes->begin(), nodes->end(), [&](const NodePlacement &one) {
        return one.engine == "CPU" && one.node == step.node->name;
      });
      if (place == nodes->end()) continue;
      place->engine = step.kernel->name;
      place->reason.clear();
    }
  }
}
// Adds all nodes as CPU nodes if all selected backends are missing, with the reason.
void AddFallback(const Session &session, PlacementInfo *info) {
  std::string reason;
  for (const std::string &one : info->missing) reason += (reason.empty() ? "" : "; ") + one;
  const Graph &graph = session.graph();
  for (const int32_t index : graph.subgraphs[0].nodes) {
    const Node &node = graph.nodes[static_cast<size_t>(index)];
    info->nodes.push_back({node.name, OperatorName(node.op), "CPU", -1, reason, 0});
  }
}
}  // namespace

mindspore::Status InspectPlacement(const mindspore::Model &model, PlacementInfo *info) {
  return Guard([&]() -> mindspore::Status {
    if (mindspore::ModelInspector::SessionOf(model) == nullptr || info == nullptr) {
      return {mindspore::kLiteUninitializedObj, "InspectPlacement: the model is not built, or info is null"};
    }
    *info = PlacementInfo();
    const Delegation *delegation = mindspore::ModelInspector::Inside(model)->delegation();
    if (delegation == nullptr) return mindspore::kSuccess;
    for (const PlacementReporter *placing : delegation->placings()) AddEngine(*placing, &info->nodes);
    AddRegistered(*mindspore::ModelInspector::SessionOf(model), &info->nodes);
    info->missing = delegation->missing();
    if (info->nodes.empty() && !info->missing.empty()) AddFallback(*mindspore::ModelInspector::SessionOf(model), info);
    return mindspore::kSuccess;
  });
}

mindspore::Status InspectEngines(const std::string &path, std::vector<EngineInfo> *engines) {
  return Guard([&]() -> mindspore::Status {
    if (engines == nullptr) return {mindspore::kLiteNullptr, "InspectEngines: engines is null"};
    engines->clear();
    if (mslite_engines[0].surveys == nullptr) return mindspore::kSuccess;
    for (const std::shared_ptr<mindspore::Delegate> &survey : mslite_engines[0].surveys()) {
      OpenSettings settings;
      settings.delegating = std::make_shared<mindspore::Context>();
      settings.delegating->set_delegate(survey);
      settings.with_engines = false;
      std::shared_ptr<Delegation> delegation;
      settings.delegation = &delegation;
      std::shared_ptr<SharedModel> model;
      MSLITE_TRY(OpenModel(path, settings, &model));
      const auto &placing = dynamic_cast<const PlacementReporter &>(*survey);
      EngineInfo &info = engines->emplace_back();
      info.missing = placing.failure();
      AddEngine(placing, &info.nodes);
      info.name = placing.engine_name();
    }
    return mindspore::kSuccess;
  });
}

mindspore::Status InspectPlan(const mindspore::Model &model, PlanInfo *info) {
  return Guard([&]() -> mindspore::Status {
    const Session *session = mindspore::ModelInspector::SessionOf(model);
    if (session == nullptr || info == nullptr) {
      return {mindspore::kLiteUninitializedObj, "InspectPlan: the model is not built, or info is null"};
    }
    *info = PlanInfo();
    for (int32_t isa = 0; IsaName(isa) != nullptr || isa < MSLITE_ISA_NEON; ++isa) {
      if (session->isas().Has(isa)) info->isa = IsaName(isa);
    }
    info->packed_bytes = static_cast<int64_t>(session->weight_bytes());
    for (const Plan *plan : session->LatestPlans()) {
      info->arena_bytes = std::max(info->arena_bytes, plan->arena_bytes);
      AddBuffers(*plan, session->graph(), static_cast<int32_t>(info->steps.size()), &info->buffers);
      for (const Step &step : plan->steps) {
        const StepNode counted(step);
        info->steps.push_back({step.node->name, OperatorName(step.node->op), step.kernel->name,
                               CountFlops(counted.node()), CountBytes(counted.node())});
      }
    }
    return mindspore::kSuccess;
  });
}

}  // namespace mslite
