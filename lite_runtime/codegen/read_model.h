// Models for generated C, from their files.
#ifndef MSLITE_CODEGEN_READ_MODEL_H
#define MSLITE_CODEGEN_READ_MODEL_H

#include <memory>
#include <string>

#include "plan/program.h"

namespace mslite::codegen {

/// The model in a file, rewritten for kernels of mslite: those of others, if some are registered, do not count.
/// Errors: those of Bytes::Map, Load, RewriteGraph and SharedModel::Create.
Status ReadModel(const std::string &path, std::shared_ptr<SharedModel> *model);

}  // namespace mslite::codegen

#endif
