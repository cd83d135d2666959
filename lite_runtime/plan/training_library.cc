#include "plan/training_library.h"

#include <dlfcn.h>

#include <atomic>

#include "model/shared_object.h"
#include "op_params.h"

// Not null if the training library is linked to the program.
#pragma weak mslite_training_kernels

namespace mslite {
namespace {
constexpr char kLibrary[] = MSLITE_TRAINING_LIBRARY;
// Without training, this library exports nothing that the training library of another build would need.
constexpr bool kHasTraining = MSLITE_HAS_TRAINING;

// Returns the folder of this library, with a '/' at its end.
std::string OwnFolder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void *>(&FindInTrainingLibrary), &info) == 0 || info.dli_fname == nullptr) {
    return "";
  }
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

std::atomic<const mslite_kernel_list *> found_kernels{nullptr};
}  // namespace

void *FindInTrainingLibrary(const char *name, std::string *reason) {
  if (!kHasTraining) return nullptr;
  const std::string beside = OwnFolder() + kLibrary;
  void *library = IsTruncatedElf(beside) ? nullptr : dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *error = dlerror();
    *reason = error == nullptr ? kLibrary : error;
    return nullptr;
  }
  return dlsym(library, name);
}

std::string NeedsTrainingLibrary(const std::string &what) {
  return what + " needs " + kLibrary +
         (kHasTraining ? ": link it to the program, or put it beside libmindspore-lite.so"
                       : ", and this runtime was built without training: build it with -DMSLITE_TRAINING=ON");
}

bool IsTrainingOperator(int32_t op) {
  switch (op) {
#define RULE(operator, function) case MSLITE_OP_##operator:
#include "shape/training.inc"
#undef RULE
    return true;
    default:
      return false;
  }
}

mslite_kernel_list TrainingKernels() {
  const mslite_kernel_list *kernels = found_kernels.load(std::memory_order_acquire);
  if (kernels == nullptr) {
    kernels = &mslite_training_kernels;
    std::string reason;
    if (kernels == nullptr) {
      kernels = static_cast<const mslite_kernel_list *>(FindInTrainingLibrary("mslite_training_kernels", &reason));
    }
    if (kernels == nullptr) return {nullptr, 0};
    found_kernels.store(kernels, std::memory_order_release);
  }
  return *kernels;
}
}  // namespace mslite
