#include "api/trainer.h"

#include "plan/training_library.h"

extern "C" {
// Defined in libmindspore-lite-train. Null unless that library is linked to the program.
__attribute__((weak)) void mslite_create_trainer(const mslite::TrainerSettings &settings,
                                                 std::unique_ptr<mslite::Trainer> *trainer, mslite::Status *status);
}

namespace mslite {
namespace {
CreateTrainerFunction FindFunction(std::string *reason) {
  if (mslite_create_trainer != nullptr) return mslite_create_trainer;
  return reinterpret_cast<CreateTrainerFunction>(FindInTrainingLibrary("mslite_create_trainer", reason));
}
}  // namespace

Status CreateTrainer(const TrainerSettings &settings, std::unique_ptr<Trainer> *trainer) {
  std::string reason;
  // Searched in each call, because the program may have loaded the library since. This is fast compared with a build.
  const CreateTrainerFunction create = FindFunction(&reason);
  if (create != nullptr) {
    Status status;
    create(settings, trainer, &status);
    return status;
  }
  return Fail(mindspore::kLiteNotSupport,
              NeedsTrainingLibrary("training") + (reason.empty() ? "" : " (" + reason + ")"));
}
}  // namespace mslite
