/* Element-wise functions of one float32 tensor on microcontrollers. */
#include "math/scalar_math.h"
#include "unary/elementwise_micro.h"

static int32_t support(const mslite_node *node) { return micro_elementwise_fits(node) ? 3 : 0; }

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  micro_elementwise *own = derived;
  const micro_elementwise plain = {0, 1.0F, 0.0F, 0.0F};
  *own = plain;
  if (node->op == MSLITE_OP_ExpFusion) { /* exp(alpha * x + low) */
    const mslite_ExpFusion *fusion = node->params;
    if (fusion->base != -1.0F && !(fusion->base > 0.0F)) return MSLITE_ERROR_ATTRIBUTE;
    const double log_base = fusion->base == -1.0F ? 1.0 : mslite_log((double)fusion->base);
    own->alpha = (float)((double)fusion->scale * log_base);
    own->low = (float)((double)fusion->shift * log_base);
  }
  micro_elementwise_schedule(node, own, schedule);
  return MSLITE_OK;
}

#define UNARY(operator, expression)                  \
  MICRO_ELEMENTWISE(function_##operator, expression) \
  MICRO_ELEMENTWISE_KERNEL(unary_f32_##operator, operator, support, prepare, function_##operator##_run)

UNARY(Abs, math_abs(v))
UNARY(Ceil, math_ceil(v))
UNARY(Floor, math_floor(v))
UNARY(Round, math_round(v))
UNARY(Neg, -v)
UNARY(Square, v *v)
UNARY(Sqrt, math_sqrt(v))
UNARY(Rsqrt, 1.0F / math_sqrt(v))
UNARY(Reciprocal, 1.0F / v)
UNARY(ExpFusion, math_exp(own->alpha *v + own->low))
UNARY(Log, math_log(v))
UNARY(Erf, math_erf(v))
UNARY(Sign, activation_sign(v))
