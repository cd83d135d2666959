#include "api/trainer.h"

#include <dlfcn.h>

#include "model/shared_object.h"

extern "C" {
// What libmindspore-lite-train has; linked to the program, it is found without looking.
__attribute__((weak)) void mslite_create_trainer(const mslite::TrainerSettings &settings,
                                                 std::unique_ptr<mslite::Trainer> *trainer, mslite::Status *status);
}

namespace mslite {
namespace {
constexpr char kLibrary[] = MSLITE_TRAINING_LIBRARY;

// The folder of this library, with a '/' at its end.
std::string OwnFolder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void *>(&CreateTrainer), &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

CreateTrainerFunction FindLibrary(std::string *reason) {
  if (mslite_create_trainer != nullptr) return mslite_create_trainer;
  const std::string beside = OwnFolder() + kLibrary;
  void *library = IsCutOff(beside) ? nullptr : dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *error = dlerror();
    *reason = error == nullptr ? kLibrary : error;
    return nullptr;
  }
  return reinterpret_cast<CreateTrainerFunction>(dlsym(library, "mslite_create_trainer"));
}
}  // namespace

Status CreateTrainer(const TrainerSettings &settings, std::unique_ptr<Trainer> *trainer) {
  std::string reason;
  // Looked for each time, which costs little beside a build: the program may have loaded it since.
  const CreateTrainerFunction create = FindLibrary(&reason);
  if (create != nullptr) {
    Status status;
    create(settings, trainer, &status);
    return status;
  }
  return Fail(mindspore::kLiteNotSupport, "training needs " + std::string(kLibrary) +
                                              ": link it to the program, or put it beside libmindspore-lite.so" +
                                              (reason.empty() ? "" : " (" + reason + ")"));
}
}  // namespace mslite
