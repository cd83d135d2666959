// MapElements: the source of each output element of a node that only moves elements.
#ifndef MSLITE_DELEGATE_ENGINE_ELEMENT_MAP_H
#define MSLITE_DELEGATE_ENGINE_ELEMENT_MAP_H

#include <vector>

#include "kernel.h"

namespace mslite {
// Returns the library's portable kernel for the node, which runs without a session; null if there is none.
const mslite_kernel *OwnKernel(const mslite_node &node);

// Sets map[i] to the index of the element of input 0 that is element i of output 0. It runs the library's kernel on
// indices. All other inputs must be constant. Returns false if the kernel does not support the node, or an element is
// not from input 0. With `zeros`, elements that are always 0 are -1; otherwise they make the function return false.
bool MapElements(const mslite_node &node, std::vector<int32_t> *map, bool zeros = false);

// A slice of a tensor, with a step in each dimension.
struct Box {
  std::vector<int64_t> begin;
  std::vector<int64_t> step;
};

// Returns true if the map from y to x is such a slice.
bool SliceOf(const std::vector<int32_t> &map, const mslite_tensor &x, const mslite_tensor &y, Box *box);

// The same for a `y` with removed dimensions, which are added again with size 1.
bool FindSlice(const std::vector<int32_t> &map, const mslite_tensor &x, mslite_tensor *y, Box *box);
}  // namespace mslite

#endif
