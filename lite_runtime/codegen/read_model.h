// Reads model files for generated C.
#ifndef MSLITE_CODEGEN_READ_MODEL_H
#define MSLITE_CODEGEN_READ_MODEL_H

#include <memory>
#include <string>

#include "plan/program.h"

namespace mslite::codegen {

/// Reads a model file and rewrites its graph for mslite's kernels; registered kernels are ignored.
/// Errors: those of Bytes::Map, Load, RewriteGraph and SharedModel::Create.
Status ReadModel(const std::string &path, std::shared_ptr<SharedModel> *model);

}  // namespace mslite::codegen

#endif
