/* Finds begin, step and size of every dimension of a slice. */
#include "assembly/slice_plan.h"

static void plan_whole(const mslite_tensor *x, mslite_slice_plan *plan) {
  plan->output_rank = x->rank;
  for (int32_t i = 0; i < x->rank; ++i) {
    plan->begin[i] = 0;
    plan->stride[i] = 1;
    plan->size[i] = x->dims[i];
    plan->entry[i] = -1;
    plan->output_source[i] = i;
  }
}

/* Reads the entries of a parameter tensor; unknown entries become symbols. Returns false if their count is unknown. */
static bool entries_or_symbols(mslite_shape_context *context, const mslite_tensor *tensor, int64_t *entries,
                               int32_t *count) {
  if (mslite_read_entries(tensor, entries, MSLITE_MAX_RANK, count)) return true;
  const int64_t length = mslite_entry_count(tensor);
  if (length < 0 || length > MSLITE_MAX_RANK) return false;
  *count = (int32_t)length;
  for (int32_t i = 0; i < *count; ++i) entries[i] = mslite_new_symbol(context);
  return true;
}

static void unknown_cut(mslite_shape_context *context, const mslite_tensor *x, mslite_slice_plan *plan) {
  plan_whole(x, plan);
  for (int32_t i = 0; i < x->rank; ++i) plan->begin[i] = plan->size[i] = mslite_new_symbol(context);
}

mslite_status mslite_plan_slice(mslite_shape_context *context, const mslite_SliceFusion *attributes,
                                const mslite_tensor *const *inputs, int32_t input_count, mslite_slice_plan *plan) {
  const mslite_tensor *x = inputs[0];
  int64_t begin[MSLITE_MAX_RANK];
  int64_t size[MSLITE_MAX_RANK];
  int32_t begins;
  int32_t sizes;
  plan_whole(x, plan);
  if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the inputs 'begin', 'size' are missing");
  if (!entries_or_symbols(context, inputs[1], begin, &begins) ||
      !entries_or_symbols(context, inputs[2], size, &sizes)) {
    unknown_cut(context, x, plan);
    return MSLITE_OK;
  }
  const bool mapped = attributes->axes.count > 0;
  if (begins != sizes || begins > x->rank || (mapped && attributes->axes.count != begins)) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "begin has %d entries, size %d, the input %d dimensions",
                             (int)begins, (int)sizes, (int)x->rank);
  }
  for (int32_t i = 0; i < begins; ++i) {
    const int32_t axis = mslite_normalize_axis(mapped ? attributes->axes.at[i] : i, x->rank);
    if (axis < 0) return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "an axis is out of range");
    const int64_t dim = x->dims[axis];
    plan->entry[axis] = i;
    plan->begin[axis] = begin[i];
    if (!mslite_is_symbol(begin[i]) && begin[i] < 0) {
      plan->begin[axis] = mslite_is_symbol(dim) ? mslite_new_symbol(context) : begin[i] + dim;
    }
    const int64_t from = plan->begin[axis];
    if (size[i] != -1) {
      plan->size[axis] = size[i];
    } else if (from == 0) {
      plan->size[axis] = dim;
    } else if (mslite_is_symbol(from) || mslite_is_symbol(dim)) {
      plan->size[axis] = mslite_new_symbol(context);
    } else {
      plan->size[axis] = dim - from;
    }
    const int64_t length = plan->size[axis];
    const bool checkable = !mslite_is_symbol(from) && !mslite_is_symbol(dim) && !mslite_is_symbol(length);
    if ((!mslite_is_symbol(length) && length < 0) || (!mslite_is_symbol(from) && from < 0) ||
        (checkable && (from > dim || length > dim - from))) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "dimension %d has no elements %lld to %lld + %lld",
                               (int)axis, (long long)from, (long long)from, (long long)length);
    }
  }
  return MSLITE_OK;
}

/* Slices dimension `axis` from begin to end (exclusive) in steps; with `open_begin` or `open_end` there is no such
 * bound. */
static void cut(mslite_shape_context *context, int64_t dim, int64_t begin, int64_t end, int64_t stride, bool open_begin,
                bool open_end, int32_t axis, mslite_slice_plan *plan) {
  const int64_t far = INT32_MAX;
  plan->stride[axis] = stride;
  if (!open_begin && !mslite_is_symbol(begin)) open_begin = stride > 0 ? begin == 0 || begin <= -far : begin >= far;
  if (!open_end && !mslite_is_symbol(end)) open_end = stride > 0 ? end >= far : end <= -far;
  if (!open_end && stride > 0 && end == dim) open_end = true;
  if (mslite_is_symbol(dim) || (!open_begin && mslite_is_symbol(begin)) || (!open_end && mslite_is_symbol(end))) {
    const bool whole = open_begin && open_end && (stride == 1 || stride == -1);
    plan->size[axis] = whole ? dim : mslite_new_symbol(context);
    plan->begin[axis] = stride > 0 && open_begin ? 0 : mslite_new_symbol(context);
    return;
  }
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? dim : dim - 1;
  if (open_begin) {
    begin = stride > 0 ? low : high;
  } else if (begin < 0) {
    begin += dim;
  }
  if (open_end) {
    end = stride > 0 ? high : low;
  } else if (end < 0) {
    end += dim;
  }
  begin = begin < low ? low : begin > high ? high : begin;
  end = end < low ? low : end > high ? high : end;
  const int64_t length = stride > 0 ? end - begin : begin - end;
  const int64_t step = stride > 0 ? stride : -stride;
  plan->begin[axis] = begin;
  plan->size[axis] = length <= 0 ? 0 : (length - 1) / step + 1;
}

typedef struct {
  int32_t count;
  int32_t stride_count;
  int32_t axis_count; /* 0: the entries are for the leading dimensions */
  int64_t begin[MSLITE_MAX_RANK];
  int64_t end[MSLITE_MAX_RANK];
  int64_t stride[MSLITE_MAX_RANK];
  int64_t axes[MSLITE_MAX_RANK];
} slice_entries;

static mslite_status cut_entry(mslite_shape_context *context, const mslite_StridedSlice *attributes,
                               const mslite_tensor *x, const slice_entries *entries, int32_t i, int32_t axis,
                               mslite_slice_plan *plan) {
  const int64_t bit = (int64_t)1 << i;
  const int64_t dim = x->dims[axis];
  plan->entry[axis] = i;
  if ((attributes->shrink_axis_mask & bit) != 0) {
    int64_t begin = (attributes->begin_mask & bit) != 0 ? 0 : entries->begin[i];
    if (!mslite_is_symbol(begin) && begin < 0) begin = mslite_is_symbol(dim) ? mslite_new_symbol(context) : begin + dim;
    if (!mslite_is_symbol(begin) && !mslite_is_symbol(dim) && (begin < 0 || begin >= dim)) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "index %lld is outside of dimension %d of size %lld",
                               (long long)entries->begin[i], (int)axis, (long long)dim);
    }
    plan->begin[axis] = begin;
    plan->size[axis] = 1;
    return MSLITE_OK;
  }
  if (mslite_is_symbol(entries->stride[i])) {
    plan->begin[axis] = plan->size[axis] = mslite_new_symbol(context);
    return MSLITE_OK;
  }
  if (entries->stride[i] == 0) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a stride is 0");
  cut(context, dim, entries->begin[i], entries->end[i], entries->stride[i], (attributes->begin_mask & bit) != 0,
      (attributes->end_mask & bit) != 0, axis, plan);
  return MSLITE_OK;
}

mslite_status mslite_plan_strided_slice(mslite_shape_context *context, const mslite_StridedSlice *attributes,
                                        const mslite_tensor *const *inputs, int32_t input_count,
                                        mslite_slice_plan *plan) {
  const mslite_tensor *x = inputs[0];
  slice_entries entries = {.count = 0};
  int32_t ends = 0;
  plan_whole(x, plan);
  if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the inputs 'begin', 'end' are missing");
  bool told = entries_or_symbols(context, inputs[1], entries.begin, &entries.count) &&
              entries_or_symbols(context, inputs[2], entries.end, &ends);
  if (input_count == 4) told = told && entries_or_symbols(context, inputs[3], entries.stride, &entries.stride_count);
  if (input_count == 5) {
    told = told && mslite_read_known_entries(inputs[3], entries.axes, MSLITE_MAX_RANK, &entries.axis_count) &&
           entries_or_symbols(context, inputs[4], entries.stride, &entries.stride_count);
  }
  if (!told) {
    unknown_cut(context, x, plan);
    if (attributes->new_axis_mask != 0 || attributes->shrink_axis_mask != 0) plan->output_rank = -1;
    return MSLITE_OK;
  }
  if (ends != entries.count || (entries.stride_count > 0 && entries.stride_count != entries.count) ||
      (entries.axis_count > 0 && entries.axis_count != entries.count)) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "begin, end, axes and strides differ in length");
  }
  for (int32_t i = entries.stride_count; i < entries.count; ++i) entries.stride[i] = 1;
  if (entries.axis_count > 0) {
    for (int32_t i = 0; i < entries.count; ++i) {
      const int32_t axis = mslite_normalize_axis(entries.axes[i], x->rank);
      if (axis < 0) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "an axis is out of range");
      const mslite_status status = cut_entry(context, attributes, x, &entries, i, axis, plan);
      if (status != MSLITE_OK) return status;
    }
    return MSLITE_OK;
  }
  int32_t consumed = 0; /* entries that belong to a dimension of the input */
  for (int32_t i = 0; i < entries.count; ++i) {
    const int64_t bit = (int64_t)1 << i;
    consumed += (attributes->ellipsis_mask & bit) == 0 && (attributes->new_axis_mask & bit) == 0;
  }
  if (consumed > x->rank) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%d entries for an input of %d dimensions", (int)consumed,
                             (int)x->rank);
  }
  int32_t axis = 0;
  plan->output_rank = 0;
  bool ellipsis_seen = false;
  for (int32_t i = 0; i < entries.count; ++i) {
    const int64_t bit = (int64_t)1 << i;
    int32_t shown = 1;
    if ((attributes->ellipsis_mask & bit) != 0 && !ellipsis_seen) {
      ellipsis_seen = true;
      shown = x->rank - consumed;
    } else if ((attributes->new_axis_mask & bit) != 0) {
      if (plan->output_rank >= MSLITE_MAX_RANK)
        return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "too many dimensions");
      plan->output_source[plan->output_rank++] = -1;
      continue;
    } else {
      const mslite_status status = cut_entry(context, attributes, x, &entries, i, axis, plan);
      if (status != MSLITE_OK) return status;
      if ((attributes->shrink_axis_mask & bit) != 0) {
        ++axis;
        continue;
      }
    }
    for (; shown > 0; --shown) {
      if (plan->output_rank >= MSLITE_MAX_RANK)
        return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "too many dimensions");
      plan->output_source[plan->output_rank++] = axis++;
    }
  }
  for (; axis < x->rank; ++axis) {
    if (plan->output_rank >= MSLITE_MAX_RANK)
      return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "too many dimensions");
    plan->output_source[plan->output_rank++] = axis;
  }
  return MSLITE_OK;
}

mslite_status mslite_plan_crop(mslite_shape_context *context, const mslite_Crop *attributes,
                               const mslite_tensor *const *inputs, int32_t input_count, mslite_slice_plan *plan) {
  const mslite_tensor *x = inputs[0];
  const mslite_tensor *reference = inputs[1];
  plan_whole(x, plan);
  const int32_t first = mslite_normalize_axis(attributes->axis, x->rank);
  const int32_t offsets = attributes->offsets.count;
  if (input_count < 2 || first < 0) return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis is out of range");
  if (offsets > 1 && offsets != x->rank - first) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "%d offsets for %d dimensions", (int)offsets,
                             (int)(x->rank - first));
  }
  for (int32_t i = first; i < x->rank; ++i) {
    const int64_t offset = offsets == 0 ? 0 : attributes->offsets.at[offsets == 1 ? 0 : i - first];
    plan->begin[i] = offset;
    plan->size[i] = reference->rank == x->rank ? reference->dims[i] : mslite_new_symbol(context);
    const bool checkable = !mslite_is_symbol(x->dims[i]) && !mslite_is_symbol(plan->size[i]);
    if (offset < 0 || (checkable && (offset > x->dims[i] || plan->size[i] > x->dims[i] - offset))) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the reference exceeds dimension %d", (int)i);
    }
  }
  return MSLITE_OK;
}
