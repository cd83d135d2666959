/* Decompresses blocks of 16 bytes in four formats: raw; 4-bit integers; a bit mask and the nonzero bytes; the same as
 * 4-bit integers. Four bytes are computed at a time, as a little-endian word. */
#include "compressed.h"

#include <string.h>

enum { BLOCK = 16, RAW = 0, NIBBLES = 1, SPARSE = 2 };

#define HALVES 0x0f0f0f0fU
#define SIGNS 0x80808080U

static void put(int8_t *to, uint32_t word) { memcpy(to, &word, sizeof word); }

/* Converts the lower nibbles of four bytes to bytes. They are computed with an offset of 128, so that the sum and the
 * difference do not carry into the next byte. */
static uint32_t from_halves(const mslite_compressed *own, uint32_t word) {
  const uint32_t bytes = (word & HALVES) + own->add;
  return (bytes - ((~bytes & own->borrows) << 1)) ^ own->flip;
}

static const uint8_t *unpack_nibbles(const mslite_compressed *own, const uint8_t *data, int8_t *to) {
  for (int32_t i = 0; i < BLOCK; i += 8, data += 4) {
    uint32_t word;
    memcpy(&word, data, sizeof word);
    put(to + i, from_halves(own, word));
    put(to + i + 4, from_halves(own, word >> 4));
  }
  return data;
}

static const uint8_t *unpack_sparse(const mslite_compressed *own, int32_t form, const uint8_t *data, int8_t *to) {
  uint32_t bits = data[0] | (uint32_t)data[1] << 8, upper = 0;
  data += 2;
  for (int32_t i = 0; i < BLOCK; i += 4, bits >>= 4) {
    uint32_t word = 0;
    if ((bits & 15) != 0) {
      for (uint32_t k = 0; k < 4; ++k) {
        if ((bits >> k & 1) == 0) continue;
        if (form == SPARSE) {
          word |= (uint32_t)*data++ << (8 * k);
        } else {
          word |= (((((uint32_t)*data >> (4 * upper)) & 15) + 248) & 255) << (8 * k);
          data += upper;
          upper ^= 1;
        }
      }
      word ^= SIGNS;
      word = (word - ((~word & own->borrows) << 1)) ^ SIGNS;
    }
    put(to + i, word);
  }
  return data + upper;
}

/* Decompresses the blocks `first` to `end` - 1. Returns the end of the data read. */
static const uint8_t *unpack(const mslite_compressed *own, const uint8_t *forms, int32_t first, int32_t end,
                             const uint8_t *data, int8_t *to) {
  for (int32_t i = first; i < end; ++i, to += BLOCK) {
    const int32_t form = forms[i >> 2] >> (2 * (i & 3)) & 3;
    if (form == NIBBLES) {
      data = unpack_nibbles(own, data, to);
    } else if (form == RAW) {
      memcpy(to, data, BLOCK);
      data += BLOCK;
    } else {
      data = unpack_sparse(own, form, data, to);
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
