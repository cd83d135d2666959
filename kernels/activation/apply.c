#define MSLITE_ISA scalar
#include "activation/apply.h"

#include "activation/functions.h"

bool mslite_can_apply_activation(int32_t activation) { return activation_is_fusable(activation); }

void mslite_apply_activation(int32_t activation, float *x, int64_t count) {
  mslite_activation_params numbers;
  activation_params_of(activation, 0.0F, 0.0F, 0.0F, false, &numbers);
  activation_row(&numbers, x, x, count);
}
