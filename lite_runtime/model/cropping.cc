#include "model/cropping.h"

#include "cropped.h"

namespace mslite {
std::string CroppingText() {
  const std::string purpose = mslite_cropped.purpose;
  if (mslite_cropped.is_cropped == MSLITE_CROPPED_MODELS) return "this runtime was cropped for '" + purpose + "'";
  return "this runtime was built with -DMSLITE_OPERATORS=" + purpose;
}

const char *CroppingRemedy() {
  return mslite_cropped.is_cropped == MSLITE_CROPPED_MODELS
             ? "crop one for it (mslite-crop --models=...), or use the whole runtime"
             : "build one with -DMSLITE_OPERATORS=all, or with a file that lists the group's operators and these";
}
}  // namespace mslite
