/* Sorts candidates by score, and computes overlaps of boxes. */
#include "detection/box_suppression.h"

static bool after(const float *scores, int32_t a, int32_t b) {
  return scores[a] < scores[b] || (!(scores[a] > scores[b]) && a > b);
}

static void sift(const float *scores, int32_t *heap, int32_t root, int32_t count) {
  const int32_t item = heap[root];
  for (int32_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && after(scores, heap[child + 1], heap[child])) ++child;
    if (!after(scores, heap[child], item)) break;
    heap[root] = heap[child];
    root = child;
  }
  heap[root] = item;
}

void mslite_sort_by_score(const float *scores, int32_t *indices, int32_t count) {
  for (int32_t i = count / 2 - 1; i >= 0; --i) sift(scores, indices, i, count);
  for (int32_t i = count - 1; i > 0; --i) {
    const int32_t last = indices[0];
    indices[0] = indices[i];
    indices[i] = last;
    sift(scores, indices, 0, i);
  }
}

static float smaller(float a, float b) { return a < b ? a : b; }
static float larger(float a, float b) { return a > b ? a : b; }

float mslite_box_iou(const mslite_box *a, const mslite_box *b) {
  const float area_a = (a->y_max - a->y_min) * (a->x_max - a->x_min);
  const float area_b = (b->y_max - b->y_min) * (b->x_max - b->x_min);
  if (!(area_a > 0) || !(area_b > 0)) return 0;
  const float height = larger(smaller(a->y_max, b->y_max) - larger(a->y_min, b->y_min), 0);
  const float width = larger(smaller(a->x_max, b->x_max) - larger(a->x_min, b->x_min), 0);
  const float common = height * width;
  return common / (area_a + area_b - common);
}
