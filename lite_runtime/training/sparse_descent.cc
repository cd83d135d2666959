#include "training/sparse_descent.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace mslite {
namespace {
constexpr char kSparse[] = "/sparse/";
enum : size_t { kWeight, kGradient, kLearningRate, kAccumulator, kMomentum, kStat };  // inputs of SGD
enum : size_t { kRows, kIndex };                                                      // inputs of UnsortedSegmentSum

class SparseUpdates {
 public:
  explicit SparseUpdates(TrainingGraph *training) : graph_(*training->graph), main_(graph_.subgraphs[0]) {}

  std::set<std::string> Run() {
    for (const int32_t index : std::vector<int32_t>(main_.nodes)) {
      if (NodeAt(index).op == MSLITE_OP_SGD) Replace(index);
    }
    return std::move(momenta_);
  }

 private:
  Node &NodeAt(int32_t index) { return graph_.nodes[static_cast<size_t>(index)]; }

  // Returns the node that computes the tensor; -1 if none of the main graph does.
  int32_t ProducerOf(int32_t tensor) {
    for (const int32_t index : main_.nodes) {
      const std::vector<int32_t> &outputs = NodeAt(index).outputs;
      if (std::find(outputs.begin(), outputs.end(), tensor) != outputs.end()) return index;
    }
    return -1;
  }

  bool IsReadOnce(int32_t tensor) {
    if (std::find(main_.outputs.begin(), main_.outputs.end(), tensor) != main_.outputs.end()) return false;
    size_t readers = 0;
    for (const int32_t index : main_.nodes) {
      const std::vector<int32_t> &inputs = NodeAt(index).inputs;
      readers += static_cast<size_t>(std::count(inputs.begin(), inputs.end(), tensor));
    }
    return readers == 1;
  }

  // Returns the variable that the tensor is the value of, or null.
  const char *VariableOf(int32_t tensor, int32_t *initial) {
    const int32_t index = ProducerOf(tensor);
    if (index < 0 || NodeAt(index).op != MSLITE_OP_ReadVariable || NodeAt(index).inputs.empty()) return nullptr;
    *initial = NodeAt(index).inputs[0];
    return static_cast<const mslite_ReadVariable *>(NodeAt(index).params)->variable;
  }

  bool IsZero(int32_t tensor) {
    const Tensor &constant = graph_.tensors[static_cast<size_t>(tensor)];
    float value = 1.0f;
    if (constant.is_constant && constant.size == sizeof value) std::memcpy(&value, constant.data, sizeof value);
    return value == 0.0f;
  }

  void Replace(int32_t index) {
    const Node step = NodeAt(index);
    if (step.inputs.size() <= kStat || step.outputs.size() != 3 || step.params == nullptr) return;
    if (static_cast<const mslite_SGD *>(step.params)->weight_decay != 0.0f) return;
    const int32_t gradient = step.inputs[kGradient], sum = ProducerOf(gradient);
    if (sum < 0 || NodeAt(sum).op != MSLITE_OP_UnsortedSegmentSum || !IsReadOnce(gradient)) return;
    if (NodeAt(sum).inputs.size() <= kIndex) return;
    const int32_t places = NodeAt(sum).inputs[kIndex];
    if (graph_.tensors[static_cast<size_t>(places)].type != MSLITE_INT32) return;
    int32_t initial = 0;
    const char *momentum = VariableOf(step.inputs[kMomentum], &initial);
    if (momentum == nullptr || !IsZero(initial)) return;
    momenta_.insert(momentum);
    LeaveAccumulator(step);
    Node &made = NodeAt(index);
    made.op = MSLITE_OP_SparseDescent;
    made.params = graph_.arena.Make<mslite_SparseDescent>();
    made.primitive = nullptr;
    made.inputs = {step.inputs[kWeight], NodeAt(sum).inputs[kRows], places, step.inputs[kLearningRate]};
    made.outputs = {step.outputs[0]};
    main_.nodes.erase(std::find(main_.nodes.begin(), main_.nodes.end(), sum));
  }

  // Without momentum the accumulator is not read: it is neither computed nor kept. Exported files keep its value in the
  // source file.
  void LeaveAccumulator(const Node &step) {
    const auto is_left = [&](int32_t index) {
      const Node &node = NodeAt(index);
      if (node.op == MSLITE_OP_AssignVariable) {
        return node.inputs[0] == step.outputs[1] || node.inputs[0] == step.outputs[2];
      }
      return node.op == MSLITE_OP_ReadVariable &&
             (node.outputs[0] == step.inputs[kAccumulator] || node.outputs[0] == step.inputs[kStat]);
    };
    std::vector<int32_t> kept;
    for (const int32_t index : main_.nodes) {
      if (is_left(index)) {
        NodeAt(index) = Node();  // removes the variable
      } else {
        kept.push_back(index);
      }
    }
    main_.nodes = std::move(kept);
  }

  Graph &graph_;
  SubGraph &main_;
  std::set<std::string> momenta_;
};
}  // namespace

bool HasSparseUpdates(const TrainingGraph &training) {
  return std::any_of(training.weights.begin(), training.weights.end(),
                     [](const TrainedWeight &weight) { return weight.node.find(kSparse) != std::string::npos; });
}

std::set<std::string> UseSparseUpdates(TrainingGraph *training) { return SparseUpdates(training).Run(); }
}  // namespace mslite
