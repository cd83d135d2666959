/* float32 MatMulFusion and FullConnection with a constant int8 matrix, which stays int8 in memory, or is packed to 4
 * bits if its values fit. A part dequantizes a few rows of a panel, uses them for all rows of its block, and
 * continues.
 *
 * Quantization parameters belong to the matrix, to a column, or to a group of adjacent k of a column, with index
 * column * groups + group.
 *
 * Limit: with one row of a, a core reads weights of 1 or half a byte; a float32 matmul reads 4 bytes. */
#include "matmul/gemm.h"
#include "matmul/geometry.h"

enum {
  DECODED_ROWS = 128,
  DECODED_PANELS = 4,
  ROW_BLOCK = MSLITE_LARGEST_ROW_BLOCK,
  NIBBLE_LEAST = -8,
  NIBBLE_MOST = 7
};

typedef struct {
  mslite_matmul product;
  int64_t panels, panel_blocks, row_blocks;
  int64_t groups; /* per column */
} weights_derived;

/* The header of the packed matrix. It is followed by scales and zero points as floats [group][column], with columns
 * padded to whole panels, and by the panels [k][GEMM_COLUMNS], with two rows in one if `nibbles`. */
typedef struct {
  int64_t nibbles;
  int64_t unused[7]; /* padding, so that the following data is aligned */
} weights_header;

static mslite_product_attributes attributes_of(const mslite_node *node) {
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  return attributes;
}

/* Sizes and steps of the matrix, from the constant alone. */
typedef struct {
  int64_t k, n, k_step, n_step, groups, padded;
} weights_shape;

static weights_shape shape_of(const mslite_node *node) {
  const mslite_tensor *b = node->inputs[1];
  const bool turned = attributes_of(node).transpose_b;
  weights_shape s = {
      b->dims[turned ? 1 : 0], b->dims[turned ? 0 : 1], turned ? 1 : b->dims[1], turned ? b->dims[1] : 1, 1, 0};
  s.padded = (s.n + GEMM_COLUMNS - 1) / GEMM_COLUMNS * GEMM_COLUMNS;
  if (b->quant_count > s.n) s.groups = b->quant_count / s.n;
  return s;
}

static int32_t weights_support(const mslite_node *node) {
  if (node->input_count < 2 || node->output_count != 1 || node->inputs[1] == NULL) return 0;
  const mslite_tensor *a = node->inputs[0], *b = node->inputs[1], *y = node->outputs[0];
  if (a == NULL || a->type != MSLITE_FLOAT32 || a->quant_count != 0 || y->type != MSLITE_FLOAT32) return 0;
  if (b->type != MSLITE_INT8 || b->data == NULL || b->rank != 2 || b->quant_count < 1) return 0;
  if (b->dims[0] < 1 || b->dims[1] < 1) return 0;
  const weights_shape s = shape_of(node);
  if (b->quant_count != 1 && (b->quant_count != s.n * s.groups || s.k % s.groups != 0)) return 0;
  const mslite_tensor *bias = node->input_count > 2 ? node->inputs[2] : NULL;
  if (bias != NULL && bias->type != MSLITE_FLOAT32) return 0;
  const mslite_product_attributes attributes = attributes_of(node);
  return !attributes.transpose_a && activation_is_fusable(attributes.activation);
}

static const mslite_quant *record_of(const mslite_tensor *b, const weights_shape *s, int64_t n, int64_t group) {
  return &b->quant[b->quant_count == 1 ? 0 : n * s->groups + group];
}

static bool fits_nibbles(const mslite_tensor *b) {
  const int8_t *q = b->data;
  const int64_t count = mslite_element_count(b);
  for (int64_t i = 0; i < count; ++i) {
    if (q[i] < NIBBLE_LEAST || q[i] > NIBBLE_MOST) return false;
  }
  return true;
}

/* Returns the rows of the packed panels. */
static int64_t packed_rows(int64_t k, bool nibbles) { return nibbles ? (k + 1) / 2 : k; }

static int64_t weights_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1) return 0;
  const weights_shape s = shape_of(node);
  return (int64_t)sizeof(weights_header) + 2 * s.groups * s.padded * (int64_t)sizeof(float) +
         packed_rows(s.k, fits_nibbles(node->inputs[1])) * s.padded;
}

static void weights_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const weights_shape s = shape_of(node);
  weights_header *header = packed;
  memset(packed, 0, (size_t)weights_pack_size(node, input));
  header->nibbles = fits_nibbles(node->inputs[1]);
  float *scales = (float *)(header + 1), *zeros = scales + s.groups * s.padded;
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t group = 0; group < s.groups; ++group) {
      const mslite_quant *record = record_of(node->inputs[1], &s, n, group);
      scales[group * s.padded + n] = (float)record->scale;
      zeros[group * s.padded + n] = (float)record->zero_point;
    }
  }
  uint8_t *to = (uint8_t *)(zeros + s.groups * s.padded);
  for (int64_t n = 0; n < s.n; ++n) {
    uint8_t *column = to + n / GEMM_COLUMNS * GEMM_COLUMNS * packed_rows(s.k, header->nibbles) + n % GEMM_COLUMNS;
    for (int64_t k = 0; k < s.k; ++k) {
      const uint32_t q = (uint8_t)((const int8_t *)source)[n * s.n_step + k * s.k_step];
      if (!header->nibbles) {
        column[k * GEMM_COLUMNS] = (uint8_t)q;
      } else {
        uint8_t *both = column + k / 2 * GEMM_COLUMNS;
        *both = (uint8_t)(*both | (k % 2 == 0 ? q & 15 : q << 4));
      }
    }
  }
}

static mslite_status weights_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  weights_derived *own = derived;
  mslite_matmul *p = &own->product;
  const mslite_status status = mslite_matmul_of(node, p);
  if (status != MSLITE_OK) return status;
  if (p->has_bias && mslite_element_count(node->inputs[2]) != p->n) return MSLITE_ERROR_SHAPE;
  /* One matrix for all matrices of a: a single matmul with more rows. */
  p->m *= p->batch;
  p->batch = 1;
  own->groups = shape_of(node).groups;
  own->panels = (p->n + GEMM_COLUMNS - 1) / GEMM_COLUMNS;
  own->row_blocks = (p->m + ROW_BLOCK - 1) / ROW_BLOCK;
  own->panel_blocks = (own->panels + DECODED_PANELS - 1) / DECODED_PANELS;
  if (own->row_blocks > INT32_MAX / own->panel_blocks) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(own->panel_blocks * own->row_blocks);
  schedule->scratch_bytes = DECODED_PANELS * DECODED_ROWS * GEMM_COLUMNS * (int64_t)sizeof(float);
  return MSLITE_OK;
}

/* SIMD_WIDTH signed bytes. */
SIMD_INLINE simd_i32 widen(const uint8_t *from) {
#if SIMD_WIDTH == 8
  return (simd_i32)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from));
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  return (simd_i32)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
#else
  int32_t lanes[SIMD_WIDTH];
  for (int32_t i = 0; i < SIMD_WIDTH; ++i) lanes[i] = (int8_t)from[i];
  return simd_load_i32(lanes);
#endif
}

SIMD_INLINE simd_f32 real_of(simd_i32 q, simd_f32 zero, simd_f32 scale) { return (simd_from_i32(q) - zero) * scale; }

/* Dequantizes rows [first, last) of k, for SIMD_WIDTH columns in one group. */
SIMD_INLINE void decode_columns(const uint8_t *from, bool nibbles, simd_f32 zero, simd_f32 scale, int64_t first,
                                int64_t last, float *to) {
  int64_t k = first;
  if (!nibbles) {
    for (; k < last; ++k, to += GEMM_COLUMNS) simd_store(to, real_of(widen(from + k * GEMM_COLUMNS), zero, scale));
    return;
  }
  if (k < last && k % 2 != 0) {
    simd_store(to, real_of(widen(from + k++ / 2 * GEMM_COLUMNS) >> 4, zero, scale));
    to += GEMM_COLUMNS;
  }
  for (; k < last; k += 2, to += 2 * GEMM_COLUMNS) {
    const simd_i32 both = widen(from + k / 2 * GEMM_COLUMNS);
    simd_store(to, real_of(((both & 15) ^ 8) - 8, zero, scale));
    if (k + 1 < last) simd_store(to + GEMM_COLUMNS, real_of(both >> 4, zero, scale));
  }
}

/* Dequantizes rows [first, last) of k of a panel. */
static void decode_rows(const weights_derived *own, const weights_header *header, int64_t panel, int64_t first,
                        int64_t last, float *to) {
  const mslite_matmul *p = &own->product;
  const int64_t padded = own->panels * GEMM_COLUMNS, per_group = p->k / own->groups;
  const float *scales = (const float *)(header + 1) + panel * GEMM_COLUMNS, *zeros = scales + own->groups * padded;
  const uint8_t *from = (const uint8_t *)((const float *)(header + 1) + 2 * own->groups * padded) +
                        panel * GEMM_COLUMNS * packed_rows(p->k, header->nibbles);
  for (int64_t k = first; k < last;) {
    const int64_t group = k / per_group, end = (group + 1) * per_group < last ? (group + 1) * per_group : last;
    for (int32_t v = 0; v < GEMM_COLUMNS; v += SIMD_WIDTH) {
      decode_columns(from + v, header->nibbles, simd_load(zeros + group * padded + v),
                     simd_load(scales + group * padded + v), k, end, to + (k - first) * GEMM_COLUMNS + v);
    }
    k = end;
  }
}

static void weights_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const weights_derived *own = run->derived;
  const mslite_matmul *p = &own->product;
  const int64_t panel = part % own->panel_blocks * DECODED_PANELS, row = part / own->panel_blocks * ROW_BLOCK;
  const int64_t column = panel * GEMM_COLUMNS, last = panel + DECODED_PANELS;
  const float *a = (const float *)run->inputs[0] + row * p->k;
  const float *bias = p->has_bias ? run->inputs[2] : NULL;
  float *c = (float *)run->outputs[0] + row * p->n + column;
  const float *rows[ROW_BLOCK];
  const int64_t no_offset = 0;
  gemm_block g = {
      .a = rows,
      .offsets = &no_offset,
      .pieces = 1,
      .b = run->scratch,
      .b_step = GEMM_COLUMNS * DECODED_ROWS,
      .c = c,
      .c_step = p->n,
      .bias = bias == NULL ? NULL : bias + column,
      .rows = row + ROW_BLOCK < p->m ? ROW_BLOCK : p->m - row,
      .columns = (last < own->panels ? last * GEMM_COLUMNS : p->n) - column,
  };
  for (int64_t k = 0; k < p->k; k += g.k) {
    g.k = k + DECODED_ROWS < p->k ? DECODED_ROWS : p->k - k;
    for (int64_t i = panel; i < last && i < own->panels; ++i) {
      decode_rows(own, run->inputs[1], i, k, k + g.k, (float *)run->scratch + (i - panel) * g.b_step);
    }
    for (int64_t r = 0; r < g.rows; ++r) rows[r] = a + r * p->k + k;
    gemm_set_activation(&g, k + g.k == p->k ? p->activation : MSLITE_ACTIVATION_TYPE_NO_ACTIVATION);
    gemm_run(&g);
    g.accumulate = true;
  }
  fused_rows(p->activation, c, p->n, g.rows, g.columns);
}

#define WEIGHTS(function, operator)                                 \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(weights_derived),                      \
      .support = weights_support,                                   \
      .prepare = weights_prepare,                                   \
      .pack_size = weights_pack_size,                               \
      .pack = weights_pack,                                         \
      .run = weights_run,                                           \
      .quantized = 1,                                               \
  };

WEIGHTS(matmul_weights_int8, MatMulFusion)
WEIGHTS(full_connection_weights_int8, FullConnection)
