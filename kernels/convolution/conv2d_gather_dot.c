/* Gathers the windows for conv2d_gather.h. */
#include "convolution/conv2d_gather.h"

/* The state of gathering. */
typedef struct {
  const int8_t *end; /* end of x */
  int32_t x_zero;
  dot_element *to;
} gathered;

static inline void gather(gathered *g, const int8_t *from, int64_t count) {
  dot_stage(from, count, g->end - from >= count + DOT_CHUNK, g->to);
  g->to += count;
}

static inline void gather_zeros(gathered *g, int64_t count) {
  dot_fill(g->x_zero, count, g->to);
  g->to += count;
}

/* Gathers elements [begin, begin + count) of one window row; `line` is a row of x, or NULL outside of the input. */
static void gather_line(const mslite_convolution *g, const int8_t *line, int64_t ox, int64_t begin, int64_t count,
                        gathered *to) {
  const mslite_axis *axis = &g->width;
  const int64_t first = ox * axis->stride - axis->pad_before;
  if (line == NULL) {
    gather_zeros(to, count);
    return;
  }
  if (axis->dilation == 1 && g->group == 1) {
    const int64_t from = first * g->in_channels + begin, width = axis->input * g->in_channels;
    const int64_t start = from < 0 ? (-from < count ? -from : count) : 0;
    int64_t stop = width - from < count ? width - from : count;
    if (stop < start) stop = start;
    if (start > 0) gather_zeros(to, start);
    if (stop > start) gather(to, line + from + start, stop - start);
    if (stop < count) gather_zeros(to, count - stop);
    return;
  }
  int64_t tap = begin / g->group_in, skipped = begin % g->group_in;
  while (count > 0) {
    const int64_t ix = first + tap * axis->dilation;
    const int64_t length = g->group_in - skipped < count ? g->group_in - skipped : count;
    if (ix < 0 || ix >= axis->input) {
      gather_zeros(to, length);
    } else {
      gather(to, line + ix * g->in_channels + skipped, length);
    }
    count -= length;
    skipped = 0;
    ++tap;
  }
}

/* The windows of one row of outputs that are inside of the input and whose lines are contiguous. */
typedef struct {
  int64_t first, last; /* outputs [first, last) */
  int64_t row;         /* offset of output 0's window in the image */
  int64_t pixel;       /* distance between windows */
  int64_t line, step;  /* length of a line, and distance between lines */
  int64_t reach;       /* bytes of x that reading a window may access */
} inside_windows;

static void find_inside(const mslite_convolution *g, int64_t oy, inside_windows *inside) {
  const mslite_axis *width = &g->width;
  const int64_t iy = oy * g->height.stride - g->height.pad_before;
  const bool in_rows = iy >= 0 && iy + (g->height.kernel - 1) * g->height.dilation < g->height.input;
  const int64_t room = width->input - width->kernel + width->pad_before;
  inside->first = width->pad_before > 0 ? (width->pad_before + width->stride - 1) / width->stride : 0;
  inside->last = in_rows && room >= 0 ? room / width->stride + 1 : 0;
  inside->row = (iy * width->input - width->pad_before) * g->in_channels;
  inside->pixel = width->stride * g->in_channels;
  inside->line = width->kernel * g->in_channels;
  inside->step = g->height.dilation * width->input * g->in_channels;
  inside->reach = (g->height.kernel - 1) * inside->step + inside->line + DOT_CHUNK;
}

/* Gathers elements [k, k + length) of one window; ky and begin are the position of k. */
static void gather_window(const mslite_convolution *g, const int8_t *image, int64_t oy, int64_t ox, int64_t ky,
                          int64_t begin, int64_t length, gathered *to) {
  const int64_t line = g->width.kernel * g->group_in;
  for (; length > 0; ++ky) {
    const int64_t count = line - begin < length ? line - begin : length;
    const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
    const bool is_inside = iy >= 0 && iy < g->height.input;
    gather_line(g, is_inside ? image + iy * g->width.input * g->in_channels : NULL, ox, begin, count, to);
    length -= count;
    begin = 0;
  }
}

void conv2d_gather(const conv2d_rows *rows, const int8_t *x, const int8_t *x_zeros, int64_t zero_step, int64_t group,
                   int64_t row, int64_t count, int64_t k, int64_t length, int64_t step, dot_element *to) {
  const mslite_convolution *g = &rows->geometry;
  const int64_t image_size = g->height.input * g->width.input * g->in_channels;
  const int64_t line = g->width.kernel * g->group_in, whole = g->height.kernel * line;
  gathered out = {.end = x + g->batch * image_size};
  if (rows->are_pixels) {
    x += row * whole + k;
    if (length == whole && length == step) { /* the rows are contiguous in source and destination */
      out.to = to;
      gather(&out, x, count * length);
      return;
    }
    for (int64_t r = 0; r < count; ++r, x += whole) {
      out.to = to + r * step;
      gather(&out, x, length);
    }
    return;
  }
  const int64_t ky = k / line, begin = k % line;
  const bool is_whole = length == whole && g->group == 1 && g->width.dilation == 1;
  const int64_t plane = g->height.output * g->width.output;
  int64_t oy = row % plane / g->width.output, ox = row % g->width.output;
  x += row / plane * image_size + group * g->group_in;
  x_zeros += row / plane * zero_step;
  inside_windows inside = {0};
  if (is_whole) find_inside(g, oy, &inside);
  for (int64_t r = 0; r < count; ++r) {
    out.to = to + r * step;
    out.x_zero = *x_zeros;
    const int8_t *from = x;
    if (ox >= inside.first && ox < inside.last) from += inside.row + ox * inside.pixel;
    if (ox >= inside.first && ox < inside.last && out.end - from >= inside.reach) {
      dot_stage_lines(from, inside.step, g->height.kernel, inside.line, out.to);
    } else {
      gather_window(g, x, oy, ox, ky, begin, length, &out);
    }
    if (++ox == g->width.output) {
      ox = 0;
      if (++oy == g->height.output) {
        oy = 0;
        x += image_size;
        x_zeros += r + 1 < count ? zero_step : 0;
      }
      if (is_whole) find_inside(g, oy, &inside);
    }
  }
}

static bool is_inside(const mslite_axis *axis) {
  return axis->kernel == 1 && axis->stride == 1 && axis->pad_before == 0 && axis->output == axis->input;
}

mslite_status conv2d_plan_rows(const mslite_node *node, conv2d_rows *rows, gemm_int8_plan *plan) {
  mslite_convolution *g = &rows->geometry;
  const mslite_status status = mslite_convolution_of(node, g);
  if (status != MSLITE_OK) return status;
  rows->are_pixels = is_inside(&g->height) && is_inside(&g->width) && g->group == 1;
  plan->m = g->batch * g->height.output * g->width.output;
  plan->n = g->group_out;
  plan->k = g->height.kernel * g->width.kernel * g->group_in;
  plan->rounds_once = false;
  plan->in_place = rows->are_pixels;
  return MSLITE_OK;
}

mslite_status conv2d_schedule(const conv2d_rows *rows, gemm_int8_plan *plan, mslite_schedule *schedule) {
  const int64_t group = rows->geometry.group;
  gemm_int8_prepare(plan, group);
  const int64_t parts = plan->plan.row_blocks * plan->plan.panel_blocks;
  if (plan->m > INT32_MAX || parts > INT32_MAX / group) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = plan->m == 0 ? 0 : (int32_t)(parts * group);
  schedule->scratch_bytes = plan->bytes;
  return MSLITE_OK;
}

bool conv2d_weights(const mslite_node *node, mslite_int8_weights *weights) {
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  memset(weights, 0, sizeof *weights);
  if (attributes.group < 1 || dims[0] % attributes.group != 0) return false;
  weights->groups = attributes.group;
  weights->n = dims[0] / attributes.group;
  weights->k = dims[1] * dims[2] * dims[3];
  weights->n_step = weights->k;
  weights->group_step = weights->n * weights->k;
  weights->k_step = 1;
  return true;
}

int64_t conv2d_pack_size(const mslite_node *node) {
  mslite_int8_weights weights;
  mslite_int8_packed packed;
  if (!conv2d_weights(node, &weights)) return 0;
  mslite_plan_int8(weights.groups, weights.n, weights.k, &gemm_int8_layout, &packed);
  return packed.bytes;
}
