/* SkipGram: the n-grams of the words of the first string, in order, with up to max_skip_size words skipped between
 * adjacent ones; with include_all_grams, also those of fewer words. A text with fewer words than one n-gram gives
 * none. */
#include "kernel.h"
#include "text/strings.h"

enum { LONGEST_GRAM = 64 };

typedef struct {
  int64_t bytes;
  int32_t grams; /* words per n-gram */
  int32_t skip, all;
} gram_derived;

static int32_t support(const mslite_node *node) {
  const mslite_SkipGram *attributes = node->params;
  return mslite_holds_strings(node->inputs[0]) && attributes->ngram_size <= LONGEST_GRAM;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_SkipGram *attributes = node->params;
  gram_derived *numbers = derived;
  if (attributes->ngram_size < 1 || attributes->max_skip_size < 0) return MSLITE_ERROR_ATTRIBUTE;
  numbers->bytes = mslite_element_count(node->inputs[0]);
  numbers->grams = (int32_t)attributes->ngram_size;
  numbers->skip = attributes->max_skip_size > INT32_MAX / 2 ? INT32_MAX / 2 : (int32_t)attributes->max_skip_size;
  numbers->all = attributes->include_all_grams;
  if (numbers->bytes > INT32_MAX / 2) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  /* Begin and end of at most half as many words. */
  schedule->shared_bytes = (numbers->bytes + 2) * (int64_t)sizeof(int32_t);
  return MSLITE_OK;
}

static bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Finds begin and end of each word. Returns their number. */
static int32_t find_words(const uint8_t *text, int64_t length, int32_t *words) {
  int32_t count = 0;
  for (int64_t i = 0; i < length;) {
    if (is_space(text[i])) {
      ++i;
      continue;
    }
    words[2 * count] = (int32_t)i;
    while (i < length && !is_space(text[i])) ++i;
    words[2 * count++ + 1] = (int32_t)i;
  }
  return count;
}

/* Visits all n-grams. Writes them after a header for `grams` strings if `to` is not NULL. Returns their bytes. */
static int64_t visit(const mslite_run *run, uint8_t *to, int64_t *grams) {
  const gram_derived *numbers = run->derived;
  const mslite_strings strings = mslite_read_strings(run->inputs[0], numbers->bytes);
  int64_t length = 0, bytes = mslite_string_header(*grams), found = 0;
  const uint8_t *text = strings.count > 0 ? mslite_string_at(&strings, 0, &length) : NULL;
  int32_t *words = run->shared;
  const int32_t count = find_words(text, length, words);
  int32_t chosen[LONGEST_GRAM];
  for (int32_t start = 0; count >= numbers->grams && start < count; ++start) {
    int32_t depth = 1; /* number of chosen words; the next one to try is chosen[depth] */
    chosen[0] = start;
    if (numbers->grams > 1) chosen[1] = start;
    while (depth > 0) {
      if (depth < numbers->grams && chosen[depth] + 1 < count && chosen[depth] - chosen[depth - 1] <= numbers->skip) {
        ++chosen[depth++];
        if (depth < numbers->grams) chosen[depth] = chosen[depth - 1];
        continue;
      }
      if (numbers->all || depth == numbers->grams) {
        if (to != NULL) mslite_write_string_number(to, 1 + found, bytes);
        for (int32_t k = 0; k < depth; ++k) {
          const int64_t size = words[2 * chosen[k] + 1] - words[2 * chosen[k]];
          if (k > 0 && to != NULL) to[bytes] = ' ';
          bytes += k > 0;
          if (to != NULL) memcpy(to + bytes, text + words[2 * chosen[k]], (size_t)size);
          bytes += size;
        }
        ++found;
        if (bytes > INT32_MAX || found > INT32_MAX / 8) return -1;
      }
      --depth;
    }
  }
  if (to != NULL) {
    mslite_write_string_number(to, 0, found);
    mslite_write_string_number(to, 1 + found, bytes);
  }
  *grams = found;
  return bytes;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  int64_t grams = 0;
  if (visit(run, NULL, &grams) >= 0) visit(run, run->outputs[0], &grams);
}

static mslite_status count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  int64_t grams = 0;
  const int64_t bytes = visit(run, NULL, &grams);
  if (bytes < 0) return MSLITE_ERROR_UNSUPPORTED;
  dims[0][0] = bytes + 4 * grams;
  return MSLITE_OK;
}

const mslite_kernel mslite_kernel_skip_gram = {
    .name = "skip_gram_scalar",
    .op = MSLITE_OP_SkipGram,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(gram_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .count = count,
};
