// Upgrades the graph of an older converter to the current form. Later code does not check the version, except for the
// channel axis of quantization parameters.
#ifndef MSLITE_MODEL_UPGRADE_UPGRADE_H
#define MSLITE_MODEL_UPGRADE_UPGRADE_H

#include "model/graph.h"
#include "schema/ops_generated.h"

namespace mslite {
// Upgrades the graph. Errors: kLiteNotSupport for an operator of an old version that has no equivalent.
Status Upgrade(const schema::MetaGraph *meta, Graph *graph);
}  // namespace mslite

#endif
