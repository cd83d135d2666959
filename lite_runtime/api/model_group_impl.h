// Workspaces of model groups.
#ifndef MSLITE_API_MODEL_GROUP_IMPL_H
#define MSLITE_API_MODEL_GROUP_IMPL_H

#include <memory>
#include <string>

#include "exec/session.h"

namespace mslite {
// Returns the workspace of the group that a file was added to last, or null if there is no such group.
std::shared_ptr<Workspace> GroupWorkspace(const std::string &path);
}  // namespace mslite

#endif
