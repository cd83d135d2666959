/* Tensor lists. A list of N elements of one shape is a tensor [N, shape...]; see kernels/shape/control_flow.c. */
#include <string.h>

#include "movement.h"

/* What all kernels do: copy the bytes that do not change, fill the rest with zeros, then copy one element. */
typedef struct {
  int64_t kept, total;        /* bytes of the output */
  int64_t element;            /* bytes */
  int64_t length;             /* elements of the list */
  int32_t list, index, value; /* input indices; -1: none */
  int32_t index_type;
} list_derived;

static int64_t byte_count(const mslite_tensor *tensor) {
  return mslite_element_count(tensor) * mslite_type_size(tensor->type);
}

static int32_t new_support(const mslite_node *node) { return mslite_type_size(node->outputs[0]->type) > 0; }

static bool is_index(const mslite_tensor *tensor) {
  return (tensor->type == MSLITE_INT32 || tensor->type == MSLITE_INT64) && mslite_element_count(tensor) == 1;
}

/* Returns the input that contains the list: the flow, unless it is the scalar that only orders nodes. */
static int32_t array_input(const mslite_node *node) {
  const int32_t flow = node->op == MSLITE_OP_TensorArrayRead ? 2 : 3;
  return node->inputs[flow]->rank > 0 ? flow : 0;
}

static int32_t get_support(const mslite_node *node) {
  const bool is_array = node->op == MSLITE_OP_TensorArrayRead;
  if (node->input_count < (is_array ? 3 : 2) || !is_index(node->inputs[1])) return 0;
  const mslite_tensor *list = node->inputs[is_array ? array_input(node) : 0];
  return list->rank > 0 && list->type == node->outputs[0]->type && mslite_type_size(list->type) > 0;
}

static int32_t set_support(const mslite_node *node) {
  const bool is_array = node->op == MSLITE_OP_TensorArrayWrite;
  if (node->input_count < (is_array ? 4 : 3) || !is_index(node->inputs[1])) return 0;
  const mslite_tensor *list = node->inputs[is_array ? array_input(node) : 0];
  const int32_t type = node->outputs[0]->type;
  return list->rank > 0 && list->type == type && node->inputs[2]->type == type && mslite_type_size(type) > 0;
}

static void finish(list_derived *numbers, mslite_schedule *schedule) {
  schedule->phase_count = numbers->value >= 0 ? 2 : 1;
  schedule->part_count[0] = mslite_byte_parts(numbers->total);
  schedule->part_count[1] = 1;
}

/* Reserve and TensorArray: fills the list with zeros. */
static mslite_status new_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  list_derived *numbers = derived;
  *numbers = (list_derived){.total = byte_count(node->outputs[0]), .list = -1, .index = -1, .value = -1};
  finish(numbers, schedule);
  return MSLITE_OK;
}

/* FromTensor, Stack and Resize: copies the elements that input and output share. Elements without a shape are zeros. */
static mslite_status keep_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  list_derived *numbers = derived;
  const mslite_tensor *list = node->inputs[0];
  *numbers = (list_derived){.total = byte_count(node->outputs[0]), .list = 0, .index = -1, .value = -1};
  numbers->kept = byte_count(list);
  if (node->op != MSLITE_OP_TensorListResize && numbers->kept != 0 && numbers->kept != numbers->total)
    return MSLITE_ERROR_SHAPE;
  if (numbers->kept > numbers->total) numbers->kept = numbers->total;
  finish(numbers, schedule);
  return MSLITE_OK;
}

static mslite_status set_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  list_derived *numbers = derived;
  const int32_t place = node->op == MSLITE_OP_TensorArrayWrite ? array_input(node) : 0;
  const mslite_tensor *list = node->inputs[place];
  *numbers = (list_derived){.total = byte_count(node->outputs[0]), .list = place, .index = 1, .value = 2};
  numbers->kept = byte_count(list);
  numbers->element = byte_count(node->inputs[2]);
  numbers->length = list->dims[0];
  numbers->index_type = node->inputs[1]->type;
  if (numbers->kept != 0 && numbers->kept != numbers->total) return MSLITE_ERROR_SHAPE;
  if (numbers->element * numbers->length != numbers->total) return MSLITE_ERROR_SHAPE;
  finish(numbers, schedule);
  return MSLITE_OK;
}

static mslite_status get_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  list_derived *numbers = derived;
  const int32_t place = node->op == MSLITE_OP_TensorArrayRead ? array_input(node) : 0;
  const mslite_tensor *list = node->inputs[place];
  *numbers = (list_derived){.total = byte_count(node->outputs[0]), .list = place, .index = 1, .value = -1};
  numbers->kept = byte_count(list) == 0 ? 0 : numbers->total;
  numbers->element = numbers->total;
  numbers->length = list->dims[0];
  numbers->index_type = node->inputs[1]->type;
  if (numbers->kept != 0 && byte_count(list) != numbers->element * numbers->length) return MSLITE_ERROR_SHAPE;
  finish(numbers, schedule);
  if (schedule->part_count[0] == 0) schedule->part_count[0] = 1; /* the index is checked in any case */
  return MSLITE_OK;
}

/* Returns the offset of the element in the list, in bytes; -1 if the index is out of range, which is reported. */
static int64_t element_offset(const mslite_run *run, const list_derived *numbers) {
  const int64_t index = mslite_integer_at(run->inputs[numbers->index], numbers->index_type, 0);
  if (index >= 0 && index < numbers->length) return index * numbers->element;
  mslite_report_value(run, numbers->index, 0, index, 0, numbers->length);
  return -1;
}

/* Fills part `part` of the output: copies bytes before `kept` from `from`, and sets the others to zero. */
static void fill_part(const list_derived *numbers, const char *from, char *to, int32_t part) {
  const int64_t begin = (int64_t)part * MSLITE_COPY_PART_BYTES;
  int64_t end = begin + MSLITE_COPY_PART_BYTES;
  if (end > numbers->total) end = numbers->total;
  int64_t middle = numbers->kept < end ? numbers->kept : end;
  if (middle < begin) middle = begin;
  if (middle > begin && from != to) memcpy(to + begin, from + begin, (size_t)(middle - begin));
  if (end > middle) memset(to + middle, 0, (size_t)(end - middle));
}

static void keep_run(const mslite_run *run, int32_t phase, int32_t part) {
  const list_derived *numbers = run->derived;
  if (phase == 0) {
    fill_part(numbers, numbers->list < 0 ? NULL : run->inputs[numbers->list], run->outputs[0], part);
    return;
  }
  const int64_t offset = element_offset(run, numbers);
  if (offset >= 0 && numbers->element > 0)
    memcpy((char *)run->outputs[0] + offset, run->inputs[numbers->value], (size_t)numbers->element);
}

static void get_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const list_derived *numbers = run->derived;
  const int64_t offset = element_offset(run, numbers);
  list_derived nothing = *numbers;
  if (offset < 0) nothing.kept = 0;
  if (numbers->total == 0) return;
  fill_part(&nothing, (const char *)run->inputs[numbers->list] + (offset < 0 ? 0 : offset), run->outputs[0], part);
}

static int32_t list_in_place(const mslite_node *node) {
  const int32_t place = node->op == MSLITE_OP_TensorArrayWrite ? array_input(node) : 0;
  return byte_count(node->inputs[place]) >= byte_count(node->outputs[0]) ? place : -1;
}

#define LIST(name, operator, support, prepare, run, in_place) \
  MSLITE_MOVEMENT_KERNEL(name, operator, list_derived, support, prepare, run, in_place)

LIST(tensor_list_reserve, TensorListReserve, new_support, new_prepare, keep_run, NULL)
LIST(tensor_array, TensorArray, new_support, new_prepare, keep_run, NULL)
LIST(tensor_list_from_tensor, TensorListFromTensor, mslite_copies_elements, keep_prepare, keep_run, list_in_place)
LIST(tensor_list_stack, TensorListStack, mslite_copies_elements, keep_prepare, keep_run, list_in_place)
LIST(tensor_list_resize, TensorListResize, mslite_copies_elements, keep_prepare, keep_run, list_in_place)
LIST(tensor_list_set_item, TensorListSetItem, set_support, set_prepare, keep_run, list_in_place)
LIST(tensor_array_write, TensorArrayWrite, set_support, set_prepare, keep_run, list_in_place)
LIST(tensor_list_get_item, TensorListGetItem, get_support, get_prepare, get_run, NULL)
LIST(tensor_array_read, TensorArrayRead, get_support, get_prepare, get_run, NULL)
