/* The table of shape rules, built from rules.inc. */
#include "shape/shape.h"

#define RULE(op, name) MSLITE_SHAPE_RULE(name);
#include "shape/rules.inc"
#undef RULE

#define RULE(op, name) {MSLITE_OP_##op, name},
const mslite_rule_entry mslite_shape_rules[] = {
#include "shape/rules.inc"
};

const int32_t mslite_shape_rule_count = (int32_t)(sizeof mslite_shape_rules / sizeof *mslite_shape_rules);
