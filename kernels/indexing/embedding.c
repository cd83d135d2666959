/* EmbeddingLookupFusion: rows of tables, each scaled down to the norm `max_norm` if that is positive and the row is
 * longer. With several tables the rows alternate: row r is in table r % tables. */
#include <math.h>
#include <string.h>

#include "movement.h"

typedef struct {
  int32_t tables, index_type;
  int64_t rows[MSLITE_MAX_OPERANDS];
  int64_t row, ids;
  float max_norm;
} embedding_derived;

static int32_t embedding_support(const mslite_node *node) {
  const int32_t ids = node->input_count - 1;
  for (int32_t i = 0; i < ids; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return ids > 0 && ids <= MSLITE_MAX_OPERANDS &&
         (node->inputs[ids]->type == MSLITE_INT32 || node->inputs[ids]->type == MSLITE_INT64);
}

static mslite_status embedding_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  embedding_derived *numbers = derived;
  numbers->tables = node->input_count - 1;
  numbers->index_type = node->inputs[numbers->tables]->type;
  numbers->ids = mslite_element_count(node->inputs[numbers->tables]);
  numbers->max_norm = ((const mslite_EmbeddingLookupFusion *)node->params)->max_norm;
  numbers->row = 1;
  for (int32_t i = 1; i < node->inputs[0]->rank; ++i) numbers->row *= node->inputs[0]->dims[i];
  for (int32_t i = 0; i < numbers->tables; ++i) {
    numbers->rows[i] = node->inputs[i]->dims[0];
    if (mslite_element_count(node->inputs[i]) != numbers->rows[i] * numbers->row) return MSLITE_ERROR_SHAPE;
  }
  if (numbers->ids > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)numbers->ids;
  return MSLITE_OK;
}

static void embedding_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const embedding_derived *numbers = run->derived;
  const int64_t id = mslite_integer_at(run->inputs[numbers->tables], numbers->index_type, part);
  float *to = (float *)run->outputs[0] + part * numbers->row;
  const size_t bytes = (size_t)numbers->row * sizeof(float);
  if (id < 0 || id / numbers->tables >= numbers->rows[id % numbers->tables]) {
    int64_t rows = 0;
    for (int32_t i = 0; i < numbers->tables; ++i) rows += numbers->rows[i];
    memset(to, 0, bytes);
    mslite_report_value(run, numbers->tables, part, id, 0, rows);
    return;
  }
  const float *from = (const float *)run->inputs[id % numbers->tables] + id / numbers->tables * numbers->row;
  memcpy(to, from, bytes);
  if (!(numbers->max_norm > 0)) return;
  double square = 0;
  for (int64_t i = 0; i < numbers->row; ++i) square += (double)from[i] * (double)from[i];
  const double norm = sqrt(square);
  if (norm <= (double)numbers->max_norm) return;
  const float scale = (float)((double)numbers->max_norm / norm);
  for (int64_t i = 0; i < numbers->row; ++i) to[i] = from[i] * scale;
}

MSLITE_MOVEMENT_KERNEL(embedding_lookup, EmbeddingLookupFusion, embedding_derived, embedding_support, embedding_prepare,
                       embedding_run, NULL)
