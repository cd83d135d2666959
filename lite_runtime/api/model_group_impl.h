// Files whose models share a workspace.
#ifndef MSLITE_API_MODEL_GROUP_IMPL_H
#define MSLITE_API_MODEL_GROUP_IMPL_H

#include <memory>
#include <string>

#include "exec/session.h"

namespace mslite {
// The workspace of the group that a file was added to last, while the group lives; else null.
std::shared_ptr<Workspace> GroupWorkspace(const std::string &path);
}  // namespace mslite

#endif
