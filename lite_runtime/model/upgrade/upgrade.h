// Brings what an older converter wrote to the current form. Nothing after this step looks at the version, except the
// channel axis of quantized weights, which follows it.
#ifndef MSLITE_MODEL_UPGRADE_UPGRADE_H
#define MSLITE_MODEL_UPGRADE_UPGRADE_H

#include "model/graph.h"
#include "schema/ops_generated.h"

namespace mslite {
// Errors: kLiteNotSupport for an operator that only old versions had and that has no equal today.
Status Upgrade(const schema::MetaGraph *meta, Graph *graph);
}  // namespace mslite

#endif
