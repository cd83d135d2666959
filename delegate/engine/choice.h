// Selection of the partitions of a model that run on a backend.
#ifndef MSLITE_DELEGATE_ENGINE_CHOICE_H
#define MSLITE_DELEGATE_ENGINE_CHOICE_H

#include <vector>

#include "engine/engine.h"
#include "registry/placement.h"

namespace mslite {
// Reads the whole model that is offered to a delegate, with the known shapes of all tensors.
Status ReadModel(mindspore::LiteDelegateGraph *model, Part *whole);

// Reorders the kernels so that each partition is one range. Returns the ranges that are faster on the backend, last one
// first: their time on the CPU is longer than copying their inputs and outputs. `placements` gets one entry for each
// node, with partitions numbered in order of execution. The backend does not have to be started.
std::vector<KernelRange> ChooseParts(const Engine &engine, const Part &whole, mindspore::LiteDelegateGraph *model,
                                     std::vector<Placement> *placements);
}  // namespace mslite

#endif
