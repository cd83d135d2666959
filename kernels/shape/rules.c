/* Finds the shape rule of an operator; the list is rules.inc. */
#include "shape/shape.h"

#define RULE(op, name) MSLITE_SHAPE_RULE(name);
#include "shape/rules.inc"
#undef RULE

#define RULE(op, name) \
  case MSLITE_OP_##op: \
    return name;

mslite_shape_rule mslite_find_shape_rule(int32_t op) {
  switch (op) {
#include "shape/rules.inc"
    default:
      return NULL;
  }
}
