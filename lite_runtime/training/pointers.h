// Converts tensors to the pointers that Metrics take.
#ifndef MSLITE_TRAINING_POINTERS_H
#define MSLITE_TRAINING_POINTERS_H

#include <vector>

#include "include/api/types.h"

namespace mslite {
inline std::vector<mindspore::MSTensor *> Pointers(std::vector<mindspore::MSTensor> *tensors) {
  std::vector<mindspore::MSTensor *> pointers;
  pointers.reserve(tensors->size());
  for (mindspore::MSTensor &tensor : *tensors) pointers.push_back(&tensor);
  return pointers;
}
}  // namespace mslite

#endif
