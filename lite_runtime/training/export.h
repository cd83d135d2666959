// Exports trained models to files.
#ifndef MSLITE_TRAINING_EXPORT_H
#define MSLITE_TRAINING_EXPORT_H

#include <memory>
#include <string>
#include <vector>

#include "api/trainer.h"
#include "exec/variables.h"
#include "model/graph.h"

namespace mslite {
// Returns the bytes of a `.ms` file: the training graph with the current values of its variables, so that training can
// continue; or the part for inference, without Dropout and with adapters merged into their weights. Errors:
// kLiteParamInvalid for outputs that inference does not compute, and for weights to quantize that are not finite;
// kLiteNotSupport for more than 2 GiB.
Status ExportModel(const std::shared_ptr<const Bytes> &file, const std::vector<std::string> &loss_names,
                   const VariableStore &variables, const ExportSettings &settings, std::vector<uint8_t> *model);

// Writes a temporary file in the same folder and renames it, so that readers of `path` see either the old file or the
// complete new one. Errors: kLiteFileError with the system's reason; the temporary file is removed.
Status WriteFile(const std::string &path, const std::vector<uint8_t> &bytes);
}  // namespace mslite

#endif
