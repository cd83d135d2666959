/* Random calls of kernels on stored integers, and whether two kernels give the same bits; plain C, so that it runs on
 * boards as well as here. */
#ifndef MSLITE_TEST_CALLS_H
#define MSLITE_TEST_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel.h"

enum { MEMORY_BYTES = 1 << 19, CALL_CHANNELS = 256 };

/* A call of one operator with up to three inputs. */
typedef struct {
  mslite_node node;
  mslite_tensor tensors[3], output;
  const mslite_tensor *inputs[3];
  const mslite_tensor *outputs[1];
  mslite_quant records[3][CALL_CHANNELS], output_record;
} call;

extern uint64_t chance_state;
int32_t chance(int32_t low, int32_t high);
bool one_in(int32_t n);

/* Memory for the contents of one call; begins again with `calls_begin`. */
void calls_begin(void);
void *calls_memory(int64_t size);
int8_t *random_bytes(int64_t count);

void set_shape(mslite_tensor *tensor, int32_t type, int32_t rank, const int64_t *dims);
void set_record(call *c, int32_t input, double scale, int32_t zero, int32_t source);
void set_output_record(call *c, double scale, int32_t zero, int32_t source, bool even);
void finish_call(call *c, int32_t op, const void *params, int32_t inputs);

/* 1: `kernel` takes the call and gives what `oracle` gives; 0: it does not take it; -1: other bits, which it prints. */
int32_t compare(const mslite_kernel *kernel, const mslite_kernel *oracle, const call *c);

int print(const char *format, ...);
#endif
