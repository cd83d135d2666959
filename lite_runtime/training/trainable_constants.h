// Loads the constants of a training graph in a form that optimizers can update.
#ifndef MSLITE_TRAINING_TRAINABLE_CONSTANTS_H
#define MSLITE_TRAINING_TRAINABLE_CONSTANTS_H

#include <memory>

#include "exec/variables.h"
#include "model/graph.h"

namespace mslite {
// Loads a training graph. Quantized weights become float32, and Fill nodes, with which the converter stores constants
// of equal values, become constants. Tensors keep the indices of the file. Errors: those of LoadTraining;
// kLiteMemoryFailed; kLiteGraphFileError for an invalid shape of a Fill.
Status LoadTrainableConstants(const std::shared_ptr<const Bytes> &file, std::shared_ptr<Graph> *graph);

// Returns the current contents of a constant's variable, which has the constant's size; null if it is not a variable.
const uint8_t *VariableContents(const Tensor &constant, const VariableStore &variables);
}  // namespace mslite

#endif
