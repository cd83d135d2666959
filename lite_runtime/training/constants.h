// What a training graph says of its constants in its own way.
#ifndef MSLITE_TRAINING_CONSTANTS_H
#define MSLITE_TRAINING_CONSTANTS_H

#include <memory>

#include "exec/variables.h"
#include "model/graph.h"

namespace mslite {
// Loads a training graph whose constants are all what an optimizer can change: float32 where the file has quantized
// weights, constants where the converter has written a repeated number as a Fill node. Tensors have the indices of the
// file. Errors: those of LoadTraining; kLiteMemoryFailed; kLiteGraphFileError for a shape of a Fill that is none.
Status LoadSettled(const std::shared_ptr<const Bytes> &file, std::shared_ptr<Graph> *graph);

// What the variable of a constant holds now, as many bytes as the constant has; null where it is no variable.
const uint8_t *VariableContents(const Tensor &constant, const VariableStore &variables);
}  // namespace mslite

#endif
