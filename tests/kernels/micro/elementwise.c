/* Random calls of pooling, softmax and binary operators. */
#include <string.h>

#include "calls.h"
#include "convolution/window.h"
#include "pooling/geometry.h"

static call c;
static int64_t list[4][4];
static int32_t source_of(void) { return one_in(3) ? MSLITE_UINT8 : MSLITE_INT8; }

typedef bool (*maker)(int32_t op);

int test_op(int32_t op, maker make, const mslite_kernel *tried, const mslite_kernel *oracle, int32_t seeds) {
  int32_t compared = 0;
  for (int32_t seed = 1; seed <= seeds; ++seed) {
    chance_state = (uint64_t)seed * 7919;
    chance(0, 1);
    calls_begin();
    if (!make(op)) continue;
    const int32_t result = compare(tried, oracle, &c);
    if (result < 0) {
      print("seed %d\n", seed);
      return 1;
    }
    compared += result;
  }
  print("%s: %d calls\n", tried->name, compared);
  return compared == 0;
}

bool make_pool(int32_t op) {
  static mslite_AvgPoolFusion average;
  static mslite_MaxPoolFusion largest;
  memset(&average, 0, sizeof average);
  memset(&largest, 0, sizeof largest);
  for (int32_t i = 0; i < 2; ++i) {
    list[0][i] = chance(1, 5);
    list[1][i] = chance(1, 3);
  }
  for (int32_t i = 0; i < 4; ++i) list[2][i] = chance(0, 2);
  const int32_t kinds[4] = {MSLITE_ACTIVATION_TYPE_NO_ACTIVATION, MSLITE_ACTIVATION_TYPE_RELU,
                            MSLITE_ACTIVATION_TYPE_RELU6, MSLITE_ACTIVATION_TYPE_NO_ACTIVATION};
  average.kernel_size = largest.kernel_size = (mslite_longs){2, list[0]};
  average.strides = largest.strides = (mslite_longs){2, list[1]};
  average.pad = largest.pad = (mslite_longs){4, list[2]};
  average.pad_mode = largest.pad_mode = one_in(2) ? MSLITE_PAD_MODE_SAME : MSLITE_PAD_MODE_PAD;
  average.global = largest.global = one_in(5);
  average.activation_type = largest.activation_type = kinds[chance(0, 3)];
  const void *params = op == MSLITE_OP_AvgPoolFusion ? (const void *)&average : &largest;
  const int64_t x_dims[4] = {one_in(4) ? 2 : 1, chance(1, 14), chance(1, 14), chance(1, 20)};
  set_shape(&c.tensors[0], MSLITE_INT8, 4, x_dims);
  c.tensors[0].data = random_bytes(mslite_element_count(&c.tensors[0]));
  set_shape(&c.output, MSLITE_INT8, 4, x_dims);
  const int32_t zero = chance(-128, 127), source = source_of();
  const double scale = chance(1, 1000) / 8192.0;
  set_record(&c, 0, scale, zero, source);
  set_output_record(&c, scale, zero, source, one_in(10));
  mslite_pooling g;
  if (mslite_pooling_resolve(op, params, &c.tensors[0], &g, NULL) != MSLITE_OK) return false;
  c.output.dims[1] = g.height.output;
  c.output.dims[2] = g.width.output;
  finish_call(&c, op, params, 1);
  return g.height.output > 0 && g.width.output > 0;
}

bool make_softmax(int32_t op) {
  static mslite_Softmax params;
  memset(&params, 0, sizeof params);
  list[0][0] = one_in(2) ? -1 : 1;
  params.axis = (mslite_longs){one_in(4) ? 0 : 1, list[0]};
  const int64_t dims[2] = {chance(1, 5), one_in(5) ? chance(200, 400) : chance(1, 30)};
  set_shape(&c.tensors[0], MSLITE_INT8, 2, dims);
  set_shape(&c.output, MSLITE_INT8, 2, dims);
  c.tensors[0].data = random_bytes(mslite_element_count(&c.tensors[0]));
  const bool usual = one_in(2);
  set_record(&c, 0, chance(1, 1000) / (one_in(3) ? 64.0 : 8192.0), chance(-128, 127), source_of());
  set_output_record(&c, usual ? 1.0 / 256 : chance(1, 1000) / 32768.0, usual ? -128 : chance(-128, 127), MSLITE_INT8,
                    false);
  finish_call(&c, op, &params, 1);
  return true;
}

bool make_binary(int32_t op) {
  static mslite_AddFusion add;
  static mslite_SubFusion sub;
  static mslite_MulFusion mul;
  const int32_t kinds[4] = {MSLITE_ACTIVATION_TYPE_NO_ACTIVATION, MSLITE_ACTIVATION_TYPE_RELU,
                            MSLITE_ACTIVATION_TYPE_RELU6, MSLITE_ACTIVATION_TYPE_NO_ACTIVATION};
  add.activation_type = sub.activation_type = mul.activation_type = kinds[chance(0, 3)];
  const int64_t dims[4] = {one_in(4) ? 2 : 1, chance(1, 6), chance(1, 6), chance(1, 20)};
  set_shape(&c.output, MSLITE_INT8, 4, dims);
  const int32_t way = chance(0, 6);
  for (int32_t i = 0; i < 2; ++i) {
    int32_t first = (way == 1 + i) ? 3 : way == 3 + i ? 4 : way == 5 + i ? 2 : 0;
    const int64_t one[4] = {1, 1, 1, 1};
    if (first == 4) {
      set_shape(&c.tensors[i], MSLITE_INT8, one_in(2) ? 0 : 4, one);
    } else {
      set_shape(&c.tensors[i], MSLITE_INT8, 4 - first, dims + first);
    }
    c.tensors[i].data = random_bytes(mslite_element_count(&c.tensors[i]));
    set_record(&c, i, one_in(5) ? 0.5 : chance(1, 1000) / 8192.0, chance(-128, 127), source_of());
  }
  if (one_in(4)) c.records[1][0].scale = c.records[0][0].scale;
  set_output_record(&c, chance(1, 1000) / (one_in(5) ? 262144.0 : 2048.0), one_in(2) ? -128 : chance(-128, 127),
                    MSLITE_INT8, one_in(10));
  finish_call(&c, op,
              op == MSLITE_OP_AddFusion   ? (const void *)&add
              : op == MSLITE_OP_SubFusion ? (const void *)&sub
                                          : &mul,
              2);
  return true;
}
