// MindSpore's training graphs with variables, and the programs that are made of one.
#ifndef MSLITE_TRAINING_TRAINING_GRAPH_H
#define MSLITE_TRAINING_TRAINING_GRAPH_H

#include <memory>
#include <string>
#include <vector>

#include "model/graph.h"
#include "plan/frame.h"

namespace mslite {
// What one optimizer does. Variables have the names of the constants in the file.
struct TrainedWeight {
  std::string node;    // the optimizer
  std::string weight;  // variables
  TensorShape shape;   // of the weight
  std::vector<std::string> states;
  std::vector<std::string> settings;  // those that are constants in the file: learning rate, momentum, ...
  std::string learning_rate;          // of them; empty where the graph computes it
  std::string momentum;               // likewise; empty where the optimizer has none
  int32_t gradient = 0;               // tensor
};

// A step of training: its outputs are `loss_count` losses, copies of `predictions`, then the gradients of the weights.
struct TrainingGraph {
  std::shared_ptr<Graph> graph;
  std::vector<TrainedWeight> weights;
  size_t loss_count = 0;
  std::vector<std::string> predictions;  // what inference gives
  std::vector<int32_t> layer_states;     // AssignVariables of what layers move in the forward pass
};

// Reads a training graph from the bytes of a file. What its optimizers, Assign and AssignAdd change is read and
// assigned as variables; an optimizer runs as soon as its gradient is there and nobody reads the old weight any more.
// FusedBatchNorm and Dropout whose gradients are computed do what they do in training; running statistics and seeds are
// variables. Those that are computed again, to save memory, move neither.
// Errors: kLiteGraphFileError for a graph without optimizers or losses, or one that changes what is no float32
// constant; kLiteNotSupport for control flow; those of Load.
// `with_predictions`: the step has what inference gives, as it computes it, among its outputs.
Status ReadTrainingGraph(const std::shared_ptr<const Bytes> &file, const std::vector<std::string> &loss_names,
                         bool with_predictions, TrainingGraph *training);

// As the file says it; rank -1 where it does not.
TensorShape ShapeInFile(const Tensor &tensor);

// Gradients are no outputs: their memory is free when their weights are updated.
void GiveUpGradients(TrainingGraph *training);
// Leaves the forward and backward passes: nothing changes but what layers move.
void KeepGradients(TrainingGraph *training);
// Leaves the updates: the gradients are the inputs, and there are no outputs.
void KeepUpdates(TrainingGraph *training);
}  // namespace mslite

#endif
