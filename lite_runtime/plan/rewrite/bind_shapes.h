// A graph for one set of input shapes.
#ifndef MSLITE_PLAN_REWRITE_BIND_SHAPES_H
#define MSLITE_PLAN_REWRITE_BIND_SHAPES_H

#include <vector>

#include "model/graph.h"
#include "plan/frame.h"

namespace mslite {
// Gives the inputs of the main graph these shapes, all dimensions of which are known, and its tensors those that
// follow. What the rules tell of contents (sizes that a model computes with, mostly) becomes constants, and the nodes
// that made it go. Nodes that fit no rule stay as they are: planning says what is wrong with them. What nodes without a
// rule give has the shape that the file says, for inputs as the file has them, and an open one for others.
void BindShapes(const std::vector<TensorShape> &inputs, Graph *graph);

// For delegates; null where a cropped runtime has none (cropper/crop.py).
extern "C" const decltype(&BindShapes) mslite_part_binding[1];
}  // namespace mslite

#endif
