// Model files of what has been trained.
#ifndef MSLITE_TRAINING_EXPORT_H
#define MSLITE_TRAINING_EXPORT_H

#include <memory>
#include <string>
#include <vector>

#include "api/trainer.h"
#include "exec/variables.h"
#include "model/graph.h"

namespace mslite {
// The bytes of a `.ms` file: the training graph as it came, with the variables as they are now, so that it goes on
// where this one stands; or the part for inference, without Dropout, and with adapters as parts of their weights.
// Errors: kLiteParamInvalid for outputs that inference does not compute, and for weights to quantize that are not
// finite; kLiteNotSupport for more than 2 GiB.
Status ExportModel(const std::shared_ptr<const Bytes> &file, const std::vector<std::string> &loss_names,
                   const VariableStore &variables, const ExportSettings &settings, std::vector<uint8_t> *model);

// Writes beside the file and renames: who reads `path` sees the old file or the whole new one, whatever happens.
// Errors: kLiteFileError with the system's reason; nothing is left behind.
Status WriteFile(const std::string &path, const std::vector<uint8_t> &bytes);
}  // namespace mslite

#endif
