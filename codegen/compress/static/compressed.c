/* Blocks of 16 bytes in four forms: as they are; numbers of four bits; only what is not zero, as bits say; the same in
 * four bits. All but the first are differences from a base. */
#include "compressed.h"

#include <string.h>

enum { BLOCK = 16, RAW = 0, NIBBLES = 1, SPARSE = 2 };

/* The signed number in the lower four bits. */
static int8_t nibble(uint32_t bits) { return (int8_t)((int32_t)((bits & 15) ^ 8) - 8); }

static const uint8_t *unpack_nibbles(const uint8_t *data, int8_t *to) {
  for (int32_t i = 0; i < BLOCK; i += 2) {
    const uint32_t both = *data++;
    to[i] = nibble(both);
    to[i + 1] = nibble(both >> 4);
  }
  return data;
}

static const uint8_t *unpack_sparse(const uint8_t *data, int32_t form, int8_t *to) {
  uint32_t bits = data[0] | (uint32_t)data[1] << 8, upper = 0;
  data += 2;
  memset(to, 0, BLOCK);
  for (; bits != 0; bits >>= 1, ++to) {
    if ((bits & 1) == 0) continue;
    if (form == SPARSE) {
      *to = (int8_t)*data++;
    } else {
      *to = nibble((uint32_t)*data >> (4 * upper));
      data += upper;
      upper ^= 1;
    }
  }
  return data + upper;
}

/* Unpacks blocks `first` to `end` - 1; returns where the data goes on. */
static const uint8_t *unpack(const mslite_compressed *own, const uint8_t *forms, int32_t first, int32_t end,
                             const uint8_t *data, int8_t *to) {
  for (int32_t i = first; i < end; ++i, to += BLOCK) {
    const int32_t form = forms[i >> 2] >> (2 * (i & 3)) & 3;
    if (form == RAW) {
      memcpy(to, data, BLOCK);
      data += BLOCK;
      continue;
    }
    data = form == NIBBLES ? unpack_nibbles(data, to) : unpack_sparse(data, form, to);
    for (int32_t k = 0; k < BLOCK; k += 2) {
      to[k] = (int8_t)(to[k] + own->base);
      to[k + 1] = (int8_t)(to[k + 1] + own->base - (own->borrows && to[k] < 0));
    }
  }
  return data;
}

void mslite_compressed_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const mslite_compressed *own = run->derived;
  const uint8_t *forms = run->inputs[own->operand], *data = forms + own->forms_size;
  unsigned char *const memory = run->scratch;
  const void *inputs[MSLITE_COMPRESSED_INPUTS];
  for (int32_t i = 0; i < own->input_count; ++i) inputs[i] = i == own->operand ? memory : run->inputs[i];
  unsigned char *y = run->outputs[0];
  void *output = own->output_at != 0 ? memory + own->output_at : y;
  mslite_run inner = *run;
  inner.inputs = inputs;
  inner.outputs = &output;
  inner.shared = memory + own->shared_at;
  inner.scratch = memory + own->scratch_at;
  int32_t block = 0;
  for (int32_t tile = 1; tile <= own->tiles; ++tile) {
    const int32_t is_last = tile == own->tiles, size = is_last ? own->last_size : own->tile_size;
    const int32_t end = block + (is_last ? own->last_blocks : own->blocks);
    data = unpack(own, forms, block, end, data, (int8_t *)memory);
    block = end;
    inner.derived = is_last ? own->last_numbers : own->numbers;
    for (int32_t p = 0; p < MSLITE_COMPRESSED_PHASES; ++p) {
      for (int32_t i = 0; i < own->parts[p]; ++i) own->run(&inner, p, i);
    }
    if (own->output_at != 0) {
      const unsigned char *row = output;
      for (int32_t i = 0; i < own->rows; ++i, row += size) memcpy(y + i * own->row_size, row, (size_t)size);
      y += size;
    } else {
      y += size;
      output = y;
    }
  }
}
