/* The float functions that tables of quantized integers are computed from. Each rounds to float32 where the
 * reference does; the elementary functions are those of math/scalar_math.h, the same on every machine. */
#include "unary/real_function.h"

#include <float.h>
#include <math.h>

#include "math/scalar_math.h"

enum {
  EXP,
  LOG,
  RSQRT,
  SIGMOID,
  TANH,
  GELU,
  GELU_TANH,
  ELU,
  SELU,
  SWISH,
  HARD_SWISH,
  HARD_SIGMOID,
  SOFTPLUS,
  SOFTSIGN
};
enum { SIN = SOFTSIGN + 1, COS, ERF, SQUARE, RECIPROCAL, FLOOR, CEIL, ROUND, SIGN, NEG, LIMIT, LEAKY, ABSOLUTE, ROOT };

static bool set_limits(mslite_float_function *numbers, float low, float high) {
  numbers->code = LIMIT;
  numbers->low = low;
  numbers->high = high;
  return true;
}

static bool activation_function(const mslite_Activation *params, mslite_float_function *numbers) {
  numbers->alpha = params->alpha;
  switch (params->activation_type) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
      return set_limits(numbers, -FLT_MAX, FLT_MAX);
    case MSLITE_ACTIVATION_TYPE_RELU:
      return set_limits(numbers, 0.0F, FLT_MAX);
    case MSLITE_ACTIVATION_TYPE_RELU6:
      return set_limits(numbers, 0.0F, 6.0F);
    case MSLITE_ACTIVATION_TYPE_RELU1:
      return set_limits(numbers, -1.0F, 1.0F);
    case MSLITE_ACTIVATION_TYPE_HARD_TANH:
      return set_limits(numbers, params->min_val, params->max_val);
    case MSLITE_ACTIVATION_TYPE_LEAKY_RELU:
      numbers->code = LEAKY;
      return true;
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      numbers->code = SIGMOID;
      return true;
    case MSLITE_ACTIVATION_TYPE_TANH:
      numbers->code = TANH;
      return true;
    case MSLITE_ACTIVATION_TYPE_GELU:
      numbers->code = params->approximate ? GELU_TANH : GELU;
      return true;
    case MSLITE_ACTIVATION_TYPE_ELU:
      numbers->code = ELU;
      return true;
    case MSLITE_ACTIVATION_TYPE_SELU:
      numbers->code = SELU;
      return true;
    case MSLITE_ACTIVATION_TYPE_SWISH:
      numbers->code = SWISH;
      return true;
    case MSLITE_ACTIVATION_TYPE_HSWISH:
      numbers->code = HARD_SWISH;
      return true;
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
      numbers->code = HARD_SIGMOID;
      numbers->alpha = 1.0F / 6.0F;
      numbers->low = 0.5F;
      return true;
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
      numbers->code = SOFTPLUS;
      return true;
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN:
      numbers->code = SOFTSIGN;
      return true;
    default:
      return false;
  }
}

bool mslite_float_function_of(const mslite_node *node, mslite_float_function *numbers) {
  const mslite_float_function none = {0, 0.0F, 0.0F, 0.0F};
  *numbers = none;
  switch (node->op) {
    case MSLITE_OP_Activation:
      return activation_function(node->params, numbers);
    case MSLITE_OP_LeakyRelu:
      numbers->code = LEAKY;
      numbers->alpha = ((const mslite_LeakyRelu *)node->params)->negative_slope;
      return true;
    case MSLITE_OP_Clip:
      return set_limits(numbers, ((const mslite_Clip *)node->params)->min, ((const mslite_Clip *)node->params)->max);
    case MSLITE_OP_Elu:
      numbers->code = ELU;
      numbers->alpha = ((const mslite_Elu *)node->params)->alpha;
      return true;
    case MSLITE_OP_HardSigmoid:
      numbers->code = HARD_SIGMOID;
      numbers->alpha = ((const mslite_HardSigmoid *)node->params)->alpha;
      numbers->low = ((const mslite_HardSigmoid *)node->params)->beta;
      return true;
    case MSLITE_OP_ExpFusion: {
      const mslite_ExpFusion *params = node->params;
      numbers->code = EXP;
      return params->base == -1.0F && params->scale == 1.0F && params->shift == 0.0F;
    }
#define CASE(operator_, code_) \
  case MSLITE_OP_##operator_:  \
    numbers->code = code_;     \
    return true;
      CASE(Log, LOG)
      CASE(Rsqrt, RSQRT)
      CASE(Sin, SIN)
      CASE(Cos, COS)
      CASE(Erf, ERF)
      CASE(Square, SQUARE)
      CASE(Reciprocal, RECIPROCAL)
      CASE(Floor, FLOOR)
      CASE(Ceil, CEIL)
      CASE(Round, ROUND)
      CASE(Sign, SIGN)
      CASE(Neg, NEG)
      CASE(Abs, ABSOLUTE)
      CASE(Sqrt, ROOT)
#undef CASE
    default:
      return false;
  }
}

static float sigmoid(float x) { return 1.0F / (1.0F + (float)mslite_exp(-(double)x)); }

static float limited(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

static float gelu_tanh(float x) {
  const float inner = 0.79788456F * (x + 0.044715F * x * x * x);
  return 0.5F * x * (1.0F + (float)mslite_tanh((double)inner));
}

static float nearest_even(float x) {
  const float down = floorf(x), rest = x - down;
  return rest > 0.5F || (rest == 0.5F && fmodf(down, 2.0F) != 0.0F) ? down + 1.0F : down;
}

static float value_of(const mslite_float_function *numbers, float x) {
  switch (numbers->code) {
    case EXP:
      return (float)mslite_exp((double)x);
    case LOG: /* values without a logarithm give the least output */
      return x <= 0.0F ? numbers->low : (float)mslite_log((double)x);
    case RSQRT:
      return x <= 0.0F ? numbers->high : 1.0F / sqrtf(x);
    case SIGMOID:
      return sigmoid(x);
    case TANH:
      return (float)mslite_tanh((double)x);
    case GELU:
      return 0.5F * x * (float)(1.0 - mslite_erf((double)(x * -0.70710678F)));
    case GELU_TANH:
      return gelu_tanh(x);
    case ELU:
      return x < 0.0F ? numbers->alpha * (float)mslite_expm1((double)x) : x;
    case SELU:
      return 1.05070099F * (x < 0.0F ? 1.67326324F * (float)mslite_expm1((double)x) : x);
    case SWISH:
      return x * sigmoid(x);
    case HARD_SWISH:
      return x * limited(x + 3.0F, 0.0F, 6.0F) / 6.0F;
    case HARD_SIGMOID:
      return limited(numbers->alpha * x + numbers->low, 0.0F, 1.0F);
    case SOFTPLUS:
      return x > 20.0F ? x : (float)mslite_log1p(mslite_exp((double)x));
    case SOFTSIGN:
      return x / (1.0F + fabsf(x));
    case SIN:
      return (float)mslite_sin((double)x);
    case COS:
      return (float)mslite_cos((double)x);
    case ERF:
      return (float)mslite_erf((double)x);
    case SQUARE:
      return x * x;
    case RECIPROCAL:
      return 1.0F / x;
    case FLOOR:
      return floorf(x);
    case CEIL:
      return ceilf(x);
    case ROUND:
      return nearest_even(x);
    case SIGN:
      return (float)((x > 0.0F) - (x < 0.0F));
    case LIMIT:
      return limited(x, numbers->low, numbers->high);
    case LEAKY:
      return x < 0.0F ? numbers->alpha * x : x;
    case ABSOLUTE:
      return fabsf(x);
    case ROOT:
      return sqrtf(x);
    default:
      return -x;
  }
}

double mslite_float_function_value(const void *numbers, double x) { return (double)value_of(numbers, (float)x); }
