// libmindspore-lite-train: linked to the program, or in the file beside this library.
#ifndef MSLITE_PLAN_TRAINING_LIBRARY_H
#define MSLITE_PLAN_TRAINING_LIBRARY_H

#include <string>

#include "kernel.h"
#include "model/internal_api.h"

namespace mslite {
// What the file beside this library has under this name; nullptr when there is no such file, with the linker's reason.
void *FindInTrainingLibrary(const char *name, std::string *reason);

// "training needs <file>: ...": `what` needs it, and what to do about it.
std::string NeedsTrainingLibrary(const std::string &what);

// True for operators whose kernels, or some of them, are in the training library.
bool IsTrainingOperator(int32_t op);

// The kernels of the training library, which is looked for until it is found; an empty list without it.
MSLITE_INTERNAL_API mslite_kernel_list TrainingKernels();
}  // namespace mslite

#endif
