// Where the elements of a node that only moves them come from.
#ifndef MSLITE_DELEGATE_ENGINE_ELEMENT_MAP_H
#define MSLITE_DELEGATE_ENGINE_ELEMENT_MAP_H

#include <vector>

#include "kernel.h"

namespace mslite {
// The library's own portable kernel for the node, which works without a session; null where it has none.
const mslite_kernel *OwnKernel(const mslite_node &node);

// map[i]: which element of input 0 element i of output 0 is, found by letting the library's own kernel move the numbers
// of elements. All other inputs must be constants. False: the kernel does not take the node, or an element comes from
// elsewhere. `zeros`: elements that are 0 whatever the input is are -1, where they otherwise make it false.
bool MapElements(const mslite_node &node, std::vector<int32_t> *map, bool zeros = false);

// A box of a tensor, with a step along each dimension.
struct Box {
  std::vector<int64_t> begin;
  std::vector<int64_t> step;
};

// Whether the map from y to x takes such a box.
bool BoxOf(const std::vector<int32_t> &map, const mslite_tensor &x, const mslite_tensor &y, Box *box);

// The same for a `y` that may have lost dimensions: puts them back, with size 1.
bool FindBox(const std::vector<int32_t> &map, const mslite_tensor &x, mslite_tensor *y, Box *box);
}  // namespace mslite

#endif
