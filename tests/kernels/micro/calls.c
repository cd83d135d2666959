#include "calls.h"

#include <stdlib.h>
#include <string.h>

uint64_t chance_state = 1;

int32_t chance(int32_t low, int32_t high) {
  chance_state = chance_state * 6364136223846793005u + 1442695040888963407u;
  return low + (int32_t)((uint32_t)(chance_state >> 33) % (uint32_t)(high - low + 1));
}

bool one_in(int32_t n) { return chance(1, n) == 1; }

static int8_t memory[MEMORY_BYTES] __attribute__((aligned(16)));
static int64_t used;

void calls_begin(void) { used = 0; }

void *calls_memory(int64_t size) {
  void *at = memory + used;
  used += (size + 31) / 16 * 16;
  if (used > (int64_t)sizeof memory) {
    print("memory\n");
    __builtin_trap();
    for (;;) {
    }
  }
  return at;
}

int8_t *random_bytes(int64_t count) {
  int8_t *bytes = calls_memory(count);
  const bool extreme = one_in(6);
  for (int64_t i = 0; i < count; ++i) bytes[i] = (int8_t)(extreme ? (one_in(4) ? 127 : -128) : chance(-128, 127));
  return bytes;
}

void set_shape(mslite_tensor *tensor, int32_t type, int32_t rank, const int64_t *dims) {
  memset(tensor, 0, sizeof *tensor);
  tensor->type = type;
  tensor->rank = rank;
  tensor->known_count = -1;
  for (int32_t i = 0; i < rank; ++i) tensor->dims[i] = dims[i];
}

void set_record(call *c, int32_t input, double scale, int32_t zero, int32_t source) {
  const mslite_quant record = {scale, zero, source, 0};
  c->records[input][0] = record;
  c->tensors[input].quant = c->records[input];
  c->tensors[input].quant_count = 1;
}

void set_output_record(call *c, double scale, int32_t zero, int32_t source, bool even) {
  const mslite_quant record = {scale, zero, source, even};
  c->output_record = record;
  c->output.quant = &c->output_record;
  c->output.quant_count = 1;
}

void finish_call(call *c, int32_t op, const void *params, int32_t inputs) {
  for (int32_t i = 0; i < inputs; ++i) c->inputs[i] = &c->tensors[i];
  c->outputs[0] = &c->output;
  const mslite_node node = {op, params, inputs, 1, c->inputs, c->outputs, 0};
  c->node = node;
}

static int8_t derived_memory[110000] __attribute__((aligned(16)));

/* With `over` >= 0 the output begins as far before input `over` as the kernel asks, and `extra` bytes more. Returns the
 * output, NULL when the kernel does not take the call. */
static const int8_t *run(const mslite_kernel *kernel, const call *c, int32_t over, int64_t extra) {
  const mslite_node *node = &c->node;
  if (kernel->op != node->op || kernel->support(node) <= 0) return NULL;
  if (kernel->derived_size > (int32_t)sizeof derived_memory) return NULL;
  mslite_schedule schedule;
  memset(&schedule, 0, sizeof schedule);
  memset(derived_memory, 0, (size_t)kernel->derived_size);
  if (kernel->prepare(node, derived_memory, &schedule) != MSLITE_OK) return NULL;
  const void *inputs[3] = {NULL, NULL, NULL};
  const int64_t size = mslite_element_count(&c->output) * mslite_type_size(c->output.type);
  int8_t *y = NULL;
  for (int32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i] == NULL) continue;
    const int8_t *data = node->inputs[i]->data;
    const int64_t bytes = mslite_element_count(node->inputs[i]) * mslite_type_size(node->inputs[i]->type);
    const int64_t packed = kernel->pack_size == NULL ? 0 : kernel->pack_size(node, i);
    if (packed > 0) {
      int8_t *to = calls_memory(packed);
      kernel->pack(node, i, data, to);
      inputs[i] = to;
    } else if (i == over) {
      const int64_t lead =
          (kernel->lead == NULL || kernel->lead(node, derived_memory, i) < 0 ? 0
                                                                             : kernel->lead(node, derived_memory, i)) +
          extra;
      int8_t *to = calls_memory(lead + bytes + size);
      memset(to, 0x5A, (size_t)(lead + bytes + size));
      memcpy(to + lead, data, (size_t)bytes);
      inputs[i] = to + lead;
      y = to;
    } else if (packed == 0) {
      int8_t *to = calls_memory(bytes);
      memcpy(to, data, (size_t)bytes);
      inputs[i] = to;
    }
  }
  if (y == NULL) y = calls_memory(size + 16);
  if (over < 0) memset(y, 0x77, (size_t)size + 16);
  void *outputs[1] = {y};
  int8_t *shared = calls_memory(schedule.shared_bytes), *scratch = calls_memory(schedule.scratch_bytes + 16);
  const mslite_run r = {derived_memory, inputs, outputs, shared, scratch, NULL};
  for (int32_t phase = 0; phase < schedule.phase_count; ++phase) {
    for (int32_t part = 0; part < schedule.part_count[phase]; ++part) {
      memset(scratch, 0x5A, (size_t)schedule.scratch_bytes + 16);
      kernel->run(&r, phase, part);
      for (int32_t i = 0; i < 16; ++i) {
        if (scratch[schedule.scratch_bytes + i] != 0x5A) {
          print("%s: writes behind its scratch\n", kernel->name);
          return y;
        }
      }
    }
  }
  for (int32_t i = 0; over < 0 && i < 16; ++i) {
    if (y[size + i] != 0x77) print("%s: writes behind its output\n", kernel->name);
  }
  return y;
}

int32_t compare(const mslite_kernel *kernel, const mslite_kernel *oracle, const call *c) {
  const int64_t size = mslite_element_count(&c->output) * mslite_type_size(c->output.type);
  const int8_t *actual = run(kernel, c, -1, 0);
  if (actual == NULL) return 0;
  const int8_t *wanted = run(oracle, c, -1, 0);
  run(kernel, c, -1, 0); /* its derived numbers again */
  if (wanted == NULL) {
    print("the oracle does not take the call\n");
    return -1;
  }
  const int64_t kept = used;
  for (int32_t way = 0; way < 5; ++way, used = kept) {
    if (way > 0) {
      const int32_t input = (way - 1) / 2;
      if (input >= c->node.input_count || c->tensors[input].data == NULL) continue;
      const bool shifted = kernel->lead != NULL && kernel->lead(&c->node, derived_memory, input) >= 0;
      const bool same = kernel->in_place != NULL && kernel->in_place(&c->node) == input;
      if (!shifted && !(same && way % 2 == 1)) continue;
      actual = run(kernel, c, input, shifted && way % 2 == 0 ? chance(1, 70) : 0);
    }
    for (int64_t i = 0; i < size; ++i) {
      if (actual[i] == wanted[i]) continue;
      print("%s: %d instead of %d at %d of %d (way %d)\n", kernel->name, actual[i], wanted[i], (int)i, (int)size, way);
      return -1;
    }
  }
  return 1;
}
