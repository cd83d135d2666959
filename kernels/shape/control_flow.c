/* Shape rules of tensor lists. A list of N elements of one shape is a tensor [N, shape...]. If the shape of its
 * elements is not known yet, unknown sizes are 0, and the first element that is set determines them. */
#include "shape/shape.h"

/* Returns the type of the list, or the type that an attribute declares. */
static int32_t element_type(const mslite_tensor *list, int64_t declared) {
  if (list != NULL && mslite_type_size(list->type) > 0) return list->type;
  return mslite_canonical_type(declared > 0 && declared < 64 ? (int32_t)declared : 0);
}

/* Reads the entries of an operand `element_shape`, where an unknown size is -1. Returns false if their number is
 * unknown: a scalar or a single -1 means an unknown rank. */
static bool read_element_shape(const mslite_tensor *operand, int64_t *dims, int32_t *rank) {
  if (operand == NULL || operand->rank == 0) return false;
  if (!mslite_read_entries(operand, dims, MSLITE_MAX_RANK - 1, rank)) return false;
  return *rank != 1 || dims[0] >= 0 || mslite_is_symbol(dims[0]);
}

static bool is_open(int64_t size) { return size < 0 && !mslite_is_symbol(size); }

/* Returns whether the elements of the list certainly have no shape yet. */
static bool is_unset(const mslite_tensor *list) {
  for (int32_t i = 1; i < list->rank; ++i) {
    if (list->dims[i] == 0) return true;
  }
  return false;
}

/* Returns whether there are certainly elements with a shape. */
static bool is_set(const mslite_tensor *list) {
  for (int32_t i = 0; i < list->rank; ++i) {
    if (list->dims[i] <= 0) return false;
  }
  return list->rank > 0;
}

/* Appends the dimensions of an element to those of y, as far as the list or the operand `element_shape` gives them. */
static void append_element(mslite_shape_context *context, const mslite_tensor *list, const mslite_tensor *operand,
                           mslite_tensor *y) {
  int64_t wanted[MSLITE_MAX_RANK];
  int32_t rank = 0;
  const bool is_wanted = read_element_shape(operand, wanted, &rank);
  if (list->rank < 0 && !is_wanted) {
    y->rank = -1;
    return;
  }
  /* If the rank differs from the requested one, the list has no elements yet, unless all sizes show that it does. */
  const bool differs = is_wanted && rank != list->rank - 1 && !is_set(list);
  if (list->rank < 0 || (is_wanted && is_unset(list)) || differs) {
    for (int32_t i = 0; i < rank; ++i) {
      int64_t size = wanted[i];
      if (is_open(size)) size = list->rank > 0 && is_unset(list) ? 0 : mslite_new_symbol(context);
      y->dims[y->rank++] = size;
    }
    return;
  }
  for (int32_t i = 1; i < list->rank; ++i) {
    int64_t size = list->dims[i];
    if (is_wanted && rank == list->rank - 1 && mslite_is_symbol(size) && wanted[i - 1] > 0) size = wanted[i - 1];
    y->dims[y->rank++] = size;
  }
}

static int64_t list_length(mslite_shape_context *context, const mslite_tensor *list) {
  return list->rank > 0 ? list->dims[0] : mslite_new_symbol(context);
}

static mslite_status check_list(mslite_shape_context *context, const mslite_tensor *list) {
  if (list->rank != 0) return MSLITE_OK;
  return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a scalar is not a list");
}

/* y: [count, element_shape...], with 0 for -1. */
static mslite_status new_list(mslite_shape_context *context, const mslite_tensor *count, mslite_tensor *y) {
  int64_t length;
  if (!mslite_known_value(count, 0, &length)) length = mslite_new_symbol(context);
  if (is_open(length))
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a list of %lld elements is invalid", (long long)length);
  y->dims[0] = length;
  y->rank = 1;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_list_reserve) {
  (void)output_count;
  mslite_tensor *y = outputs[0];
  y->type = element_type(NULL, ((const mslite_TensorListReserve *)params)->element_dtype);
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "TensorListReserve needs two inputs");
  const mslite_status status = new_list(context, inputs[1], y);
  if (status != MSLITE_OK) return status;
  const mslite_tensor *shape = inputs[0];
  const int64_t entries = mslite_entry_count(shape);
  const bool is_lone = shape->rank == 0 || entries == 1;
  int64_t dims[MSLITE_MAX_RANK];
  int32_t rank = 0;
  if (mslite_limit_entries(context, shape, MSLITE_MAX_RANK - 1) != MSLITE_OK) return MSLITE_ERROR_UNSUPPORTED;
  if (mslite_read_entries(shape, dims, MSLITE_MAX_RANK - 1, &rank)) {
    for (int32_t i = 0; i < rank; ++i) y->dims[y->rank++] = is_open(dims[i]) ? 0 : dims[i];
  } else if (entries < 0 || is_lone) {
    y->rank = -1;
  } else {
    for (int32_t i = 0; i < entries; ++i) y->dims[y->rank++] = mslite_new_symbol(context);
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_tensor_array) {
  (void)input_count, (void)output_count;
  const mslite_TensorArray *attributes = params;
  mslite_tensor *y = outputs[0];
  y->type = element_type(NULL, attributes->data_type);
  const mslite_status status = new_list(context, inputs[0], y);
  if (status != MSLITE_OK) return status;
  if (attributes->element_shape.count >= MSLITE_MAX_RANK) {
    return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "elements of %d dimensions are not supported",
                             (int)attributes->element_shape.count);
  }
  if (attributes->element_shape.at == NULL) y->dims[y->rank++] = 0;
  for (int32_t i = 0; i < (int32_t)attributes->element_shape.count; ++i) {
    const int64_t size = attributes->element_shape.at[i];
    y->dims[y->rank++] = size < 0 ? 0 : size;
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_list_from_tensor) {
  (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return check_list(context, inputs[0]);
}

static mslite_status item_shape(mslite_shape_context *context, const mslite_tensor *list, const mslite_tensor *operand,
                                int64_t declared, mslite_tensor *y) {
  y->type = element_type(list, declared);
  y->rank = 0;
  append_element(context, list, operand, y);
  return check_list(context, list);
}

MSLITE_SHAPE_RULE(mslite_shape_of_list_get_item) {
  (void)output_count;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a list and an index are needed");
  return item_shape(context, inputs[0], input_count > 2 ? inputs[2] : NULL,
                    ((const mslite_TensorListGetItem *)params)->element_dtype, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_list_stack) {
  (void)output_count;
  const mslite_TensorListStack *attributes = params;
  mslite_tensor *y = outputs[0];
  y->type = element_type(inputs[0], attributes->element_dtype);
  y->rank = 1;
  y->dims[0] = list_length(context, inputs[0]);
  const bool is_counted = attributes->num_elements > 0;
  if (is_counted && mslite_is_symbol(y->dims[0])) y->dims[0] = attributes->num_elements;
  if (is_counted && y->dims[0] != attributes->num_elements) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the list has %lld elements, but needs %lld",
                             (long long)y->dims[0], (long long)attributes->num_elements);
  }
  append_element(context, inputs[0], input_count > 1 ? inputs[1] : NULL, y);
  return check_list(context, inputs[0]);
}

/* Sets the shape of the list after one of its elements is set to `value`. */
static mslite_status with_item(mslite_shape_context *context, const mslite_tensor *list, const mslite_tensor *value,
                               mslite_tensor *y) {
  y->type = value->type;
  if (list->type != value->type && mslite_type_size(list->type) > 0) {
    return mslite_shape_fail(context, MSLITE_ERROR_TYPE, "the element and the list have different data types");
  }
  if (value->rank < 0) {
    y->rank = -1;
    if (is_set(list)) mslite_same_shape(list, y);
    return check_list(context, list);
  }
  if (value->rank >= MSLITE_MAX_RANK) {
    return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "elements of %d dimensions are not supported",
                             (int)value->rank);
  }
  y->rank = 1;
  y->dims[0] = list_length(context, list);
  const bool is_decided = is_set(list);
  if (is_decided && list->rank != value->rank + 1) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the elements of a list have different ranks");
  }
  for (int32_t i = 0; i < value->rank; ++i) {
    int64_t size = value->dims[i];
    if (is_decided && !mslite_merge_size(value->dims[i], list->dims[i + 1], &size)) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the elements of a list have different shapes");
    }
    y->dims[y->rank++] = size;
  }
  return check_list(context, list);
}

MSLITE_SHAPE_RULE(mslite_shape_of_list_set_item) {
  (void)params, (void)output_count;
  if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a list, an index and a value are needed");
  return with_item(context, inputs[0], inputs[2], outputs[0]);
}

/* The flow contains the last written value, unless it is the scalar that only orders nodes. */
MSLITE_SHAPE_RULE(mslite_shape_of_array_read) {
  (void)params, (void)output_count;
  if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "TensorArrayRead needs three inputs");
  if (inputs[2]->rank < 0) {
    outputs[0]->rank = -1;
    outputs[0]->type = inputs[0]->type;
    return MSLITE_OK;
  }
  return item_shape(context, inputs[inputs[2]->rank > 0 ? 2 : 0], NULL, 0, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_array_write) {
  (void)params, (void)output_count;
  if (input_count < 4) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "TensorArrayWrite needs four inputs");
  if (inputs[3]->rank < 0) {
    outputs[0]->rank = -1;
    outputs[0]->type = inputs[2]->type;
    return MSLITE_OK;
  }
  return with_item(context, inputs[inputs[3]->rank > 0 ? 3 : 0], inputs[2], outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_list_resize) {
  (void)params, (void)output_count;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a list and a size are needed");
  mslite_same_shape(inputs[0], outputs[0]);
  if (inputs[0]->rank < 1) return check_list(context, inputs[0]);
  const int32_t rank = outputs[0]->rank;
  const mslite_status status = new_list(context, inputs[1], outputs[0]);
  outputs[0]->rank = rank;
  return status;
}

MSLITE_SHAPE_RULE(mslite_shape_of_depend) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return MSLITE_OK;
}

/* One element, which is not read. */
MSLITE_SHAPE_RULE(mslite_shape_of_assert) {
  (void)context, (void)params, (void)inputs, (void)input_count, (void)output_count;
  outputs[0]->type = MSLITE_BOOL;
  outputs[0]->rank = 1;
  outputs[0]->dims[0] = 1;
  return MSLITE_OK;
}
