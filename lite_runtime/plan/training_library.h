// Finds libmindspore-lite-train: linked to the program, or as a file beside this library.
#ifndef MSLITE_PLAN_TRAINING_LIBRARY_H
#define MSLITE_PLAN_TRAINING_LIBRARY_H

#include <string>

#include "kernel.h"
#include "model/internal_api.h"

namespace mslite {
// Returns the address of a symbol in the file beside this library; nullptr, with the linker's reason, if there is none.
void *FindInTrainingLibrary(const char *name, std::string *reason);

// Returns the message "<what> needs <file>: ..." with the remedy, for example for `what` "training".
std::string NeedsTrainingLibrary(const std::string &what);

// Returns true for operators with kernels in the training library.
bool IsTrainingOperator(int32_t op);

// Returns the kernels of the training library, or an empty list. Searches at each call until the library is found.
MSLITE_INTERNAL_API mslite_kernel_list TrainingKernels();
}  // namespace mslite

#endif
