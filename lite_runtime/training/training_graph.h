// MindSpore's training graphs with variables, and the programs that are derived from one.
#ifndef MSLITE_TRAINING_TRAINING_GRAPH_H
#define MSLITE_TRAINING_TRAINING_GRAPH_H

#include <memory>
#include <string>
#include <vector>

#include "model/graph.h"
#include "plan/frame.h"

namespace mslite {
// One optimizer. Variables have the names of the constants in the file.
struct TrainedWeight {
  std::string node;    // shape of the weight
  std::string weight;  // variables
  TensorShape shape;   // of the weight
  std::vector<std::string> states;
  std::vector<std::string> settings;  // those that are constants in the file: learning rate, momentum, ...
  std::string learning_rate;          // one of `settings`; empty if the graph computes it
  std::string momentum;               // one of `settings`; empty if the optimizer has none
  int32_t gradient = 0;               // tensor
};

// A training step. Its outputs are `loss_count` losses, copies of `predictions`, then the gradients of the weights.
struct TrainingGraph {
  std::shared_ptr<Graph> graph;
  std::vector<TrainedWeight> weights;
  size_t loss_count = 0;
  std::vector<std::string> predictions;  // the results of inference
  std::vector<int32_t> layer_states;     // AssignVariable nodes of layer states that the forward pass updates
};

// Reads a training graph from the bytes of a file. The constants that its optimizers, Assign and AssignAdd update
// become variables. An optimizer runs as soon as its gradient is computed and no node reads the old weight any more.
// FusedBatchNorm and Dropout with gradients compute as in training; running statistics and seeds are variables. Copies
// of them that are recomputed to save memory do not update these variables.
// `with_predictions`: the outputs of the step include the results of inference.
// Errors: kLiteGraphFileError for a graph without optimizers or losses, or one that updates something other than a
// float32 constant; kLiteNotSupport for control flow; those of Load.
Status ReadTrainingGraph(const std::shared_ptr<const Bytes> &file, const std::vector<std::string> &loss_names,
                         bool with_predictions, TrainingGraph *training);

// Returns the shape in the file; rank -1 if it is unknown.
TensorShape ShapeInFile(const Tensor &tensor);

// Removes gradients from the outputs, so that their memory is free after their weights are updated.
void RemoveGradientOutputs(TrainingGraph *training);
// Keeps the forward and backward passes; of the variables, only layer states are updated.
void KeepGradients(TrainingGraph *training);
// Keeps the updates; the gradients are the inputs, and there are no outputs.
void KeepUpdates(TrainingGraph *training);
}  // namespace mslite

#endif
