/* CustomNormalize: converts each string to lower case, removes some punctuation, expands contractions, adds blanks
 * around question and exclamation marks, and puts at most 300 bytes of it between `<S> ` and ` <E>`. Same steps and
 * order as MindSpore Lite. */
#include "kernel.h"
#include "text/strings.h"

enum { MAX_BYTES = 300, GROWTH = 4, ROOM = 64 };

typedef struct {
  int64_t bytes;
} normal_derived;

/* A text that is rewritten from `at` to `other`; the two buffers are swapped after each step. */
typedef struct {
  uint8_t *at, *other;
  int64_t size;
} rewriting;

static bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool is_mark(uint8_t c) { return c == '?' || c == '!'; }

static bool is_edge(uint8_t c) { return is_space(c) || (c != 0 && strchr(",:;-&'\"", c) != NULL); }

static bool starts(const uint8_t *at, const uint8_t *end, const char *text) {
  const size_t length = strlen(text);
  return (size_t)(end - at) >= length && memcmp(at, text, length) == 0;
}

static void turn(rewriting *text, int64_t size) {
  uint8_t *other = text->other;
  text->other = text->at;
  text->at = other;
  text->size = size;
}

static void trim(rewriting *text, bool (*drop)(uint8_t)) {
  while (text->size > 0 && drop(text->at[text->size - 1])) --text->size;
  int64_t first = 0;
  while (first < text->size && drop(text->at[first])) ++first;
  memmove(text->at, text->at + first, (size_t)(text->size - first));
  text->size -= first;
}

static void drop_punctuation(rewriting *text) {
  int64_t size = 0;
  for (int64_t i = 0; i < text->size; ++i) {
    const uint8_t c = text->at[i];
    if (c == 0 || strchr(".*()\"", c) == NULL) text->other[size++] = c;
  }
  turn(text, size);
}

/* Removes the blank before a separate contraction ending that is followed by a separator, or (`last`) by the end. */
static void join_endings(rewriting *text, bool last) {
  static const char *const endings[] = {"'t", "'nt", "n't", "'d", "'ll", "'s", "'m", "'ve", "'re"};
  const uint8_t *end = text->at + text->size;
  int64_t size = 0;
  for (const uint8_t *at = text->at; at < end;) {
    size_t length = 0;
    for (size_t k = 0; is_space(*at) && length == 0 && k < sizeof endings / sizeof *endings; ++k) {
      const uint8_t *behind = at + 1 + strlen(endings[k]);
      if (!starts(at + 1, end, endings[k])) continue;
      if (last ? behind == end
               : behind < end && (is_space(*behind) || (*behind != 0 && strchr(",;:/", *behind) != NULL)))
        length = strlen(endings[k]) + (last ? 0 : 1);
    }
    if (length > 0) {
      memcpy(text->other + size, at + 1, length);
      size += (int64_t)length;
      at += length + 1;
    } else {
      text->other[size++] = *at++;
    }
  }
  turn(text, size);
}

/* Replaces the last `from` of each word that is not its beginning by `to`. */
static void expand(rewriting *text, const char *from, const char *to) {
  const uint8_t *end = text->at + text->size;
  int64_t size = 0;
  for (const uint8_t *at = text->at; at < end;) {
    const uint8_t *word = at, *found = NULL;
    for (; at < end && !is_space(*at); ++at) {
      if (at > word && starts(at, end, from)) found = at;
    }
    const uint8_t *rest = word;
    if (found != NULL) {
      memcpy(text->other + size, word, (size_t)(found - word));
      size += found - word;
      memcpy(text->other + size, to, strlen(to));
      size += (int64_t)strlen(to);
      rest = found + strlen(from);
    }
    memcpy(text->other + size, rest, (size_t)(at - rest));
    size += at - rest;
    if (at < end) text->other[size++] = *at++;
  }
  turn(text, size);
}

/* Replaces every `from` by `to`. */
static void replace(rewriting *text, const char *from, const char *to) {
  const uint8_t *end = text->at + text->size;
  int64_t size = 0;
  for (const uint8_t *at = text->at; at < end;) {
    if (!starts(at, end, from)) {
      text->other[size++] = *at++;
      continue;
    }
    memcpy(text->other + size, to, strlen(to));
    size += (int64_t)strlen(to);
    at += strlen(from);
  }
  turn(text, size);
}

/* Replaces several equal marks by one; adds blanks around a mark that follows other text, and between two marks. */
static void part_marks(rewriting *text) {
  int64_t size = 0;
  for (int64_t i = 0; i < text->size; ++i) {
    if (i == 0 || !is_mark(text->at[i]) || text->at[i] != text->at[i - 1]) text->other[size++] = text->at[i];
  }
  turn(text, size);
  size = 0;
  for (int64_t i = 0; i < text->size; ++i) {
    const bool follows = i > 0 && is_mark(text->at[i]) && !is_mark(text->at[i - 1]);
    if (follows) text->other[size++] = ' ';
    text->other[size++] = text->at[i];
    if (follows) text->other[size++] = ' ';
  }
  turn(text, size);
  size = 0;
  for (int64_t i = 0; i < text->size; ++i) {
    text->other[size++] = text->at[i];
    if (i + 1 < text->size && is_mark(text->at[i]) && is_mark(text->at[i + 1])) {
      text->other[size++] = ' ';
      text->other[size++] = text->at[++i];
    }
  }
  turn(text, size);
}

static void normalize(rewriting *text) {
  for (int64_t i = 0; i < text->size; ++i) {
    if (text->at[i] >= 'A' && text->at[i] <= 'Z') text->at[i] = (uint8_t)(text->at[i] - 'A' + 'a');
  }
  trim(text, is_space);
  drop_punctuation(text);
  join_endings(text, false);
  join_endings(text, true);
  expand(text, "'ll", " will");
  expand(text, "'nt", " not");
  expand(text, "'re", " are");
  expand(text, "'ve", " have");
  expand(text, "n't", " not");
  replace(text, "i'm", "i am");
  part_marks(text);
  trim(text, is_edge);
  trim(text, is_space);
  if (text->size > MAX_BYTES) text->size = MAX_BYTES;
}

static int32_t normal_support(const mslite_node *node) { return mslite_holds_strings(node->inputs[0]); }

static mslite_status normal_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  normal_derived *numbers = derived;
  numbers->bytes = mslite_element_count(node->inputs[0]);
  if (numbers->bytes > INT32_MAX / 16) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  schedule->shared_bytes = 2 * (GROWTH * numbers->bytes + ROOM);
  return MSLITE_OK;
}

/* Writes the strings if `to` is not NULL. Returns the bytes of the tensor. */
static int64_t rewrite(const mslite_run *run, uint8_t *to) {
  const int64_t bytes = ((const normal_derived *)run->derived)->bytes;
  const mslite_strings strings = mslite_read_strings(run->inputs[0], bytes);
  const int64_t count = strings.count > 0 ? strings.count : 1; /* no string: a single 0 byte */
  int64_t size = mslite_string_header(count);
  if (to != NULL) mslite_write_string_number(to, 0, count);
  for (int32_t i = 0; i < count; ++i) {
    int64_t length = 0;
    rewriting text = {run->shared, (uint8_t *)run->shared + GROWTH * bytes + ROOM, 0};
    if (to != NULL) mslite_write_string_number(to, 1 + (int64_t)i, size);
    if (strings.count == 0) {
      if (to != NULL) to[size] = 0;
      ++size;
      break;
    }
    const uint8_t *from = mslite_string_at(&strings, i, &length);
    memcpy(text.at, from, (size_t)length);
    text.size = length;
    normalize(&text);
    if (to != NULL) {
      memcpy(to + size, "<S> ", 4);
      memcpy(to + size + 4, text.at, (size_t)text.size);
      memcpy(to + size + 4 + text.size, " <E>", 4);
    }
    size += text.size + 8;
  }
  if (to != NULL) mslite_write_string_number(to, 1 + count, size);
  return size;
}

static void normal_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  rewrite(run, run->outputs[0]);
}

static mslite_status normal_count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  dims[0][0] = rewrite(run, NULL);
  return MSLITE_OK;
}

const mslite_kernel mslite_kernel_custom_normalize = {
    .name = "custom_normalize_scalar",
    .op = MSLITE_OP_CustomNormalize,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(normal_derived),
    .support = normal_support,
    .prepare = normal_prepare,
    .run = normal_run,
    .count = normal_count,
};
