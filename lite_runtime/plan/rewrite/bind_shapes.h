// Specializes a graph for one set of input shapes.
#ifndef MSLITE_PLAN_REWRITE_BIND_SHAPES_H
#define MSLITE_PLAN_REWRITE_BIND_SHAPES_H

#include <vector>

#include "model/graph.h"
#include "plan/frame.h"

namespace mslite {
// Sets the shapes of the main graph's inputs (all dimensions known) and infers those of the other tensors. Contents
// that shape inference finds, mostly sizes that the model computes with, become constants, and the nodes that computed
// them are removed. Nodes that fail stay as they are; planning reports the error. Results of nodes without a shape rule
// have the shape in the file if the inputs do, too; otherwise it is unknown.
void BindShapes(const std::vector<TensorShape> &inputs, Graph *graph);

// For delegates. Null in a runtime that was cropped without delegates (cropper/crop.py).
extern "C" const decltype(&BindShapes) mslite_part_binding[1];
}  // namespace mslite

#endif
