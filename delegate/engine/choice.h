// Which parts of a model an engine gets.
#ifndef MSLITE_DELEGATE_ENGINE_CHOICE_H
#define MSLITE_DELEGATE_ENGINE_CHOICE_H

#include <vector>

#include "engine/engine.h"
#include "registry/placement.h"

namespace mslite {
// The whole model that a delegate is offered, with the shapes of all its tensors, as far as they are known.
Status ReadModel(mindspore::LiteDelegateGraph *model, Part *whole);

// Reorders the kernels so that each part is one range, and gives the ranges that are worth it, the last one first: what
// the CPU needs for them is more than what the copies at their borders take. `placements` get a line for each node,
// with parts numbered in the order in which they run. The engine need not have been started.
std::vector<KernelRange> ChooseParts(const Engine &engine, const Part &whole, mindspore::LiteDelegateGraph *model,
                                     std::vector<Placement> *placements);
}  // namespace mslite

#endif
