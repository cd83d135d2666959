/* Finds the shape rule of an operator. Not in the file of the table, so that no compiler inlines its entries. */
#include "shape/shape.h"

mslite_shape_rule mslite_find_shape_rule(int32_t op) {
  for (int32_t i = 0; i < mslite_shape_rule_count; ++i) {
    if (mslite_shape_rules[i].op == op) return mslite_shape_rules[i].rule;
  }
  return NULL;
}
