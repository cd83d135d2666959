/* Stands for the driver and the NPU: looks at what it is given as the driver does, and at the tensors in the working
 * memory; where they are those of a recorded call (recorded.h), the results of that call are written, and everything
 * else is overwritten. */
#include <ethosu_driver.h>
#include <string.h>

#include "recorded.h"

#ifdef TEST_ON_BOARD /* without a C library that prints */
#define printf(...) (void)why
#else
#include <stdio.h>
#endif

enum { ALIGNMENT = 16, OPTIMIZER_CONFIG = 1, COMMAND_STREAM = 2, NOP = 5 };

struct ethosu_driver {
  int reserved;
};

static struct ethosu_driver npu;

static int refuse(const char *why) {
  printf("driver: %s\n", why);
  return -1;
}

static int is_aligned(uint64_t address) { return address % ALIGNMENT == 0; }

struct ethosu_driver *ethosu_reserve_driver(void) {
  if (npu.reserved) refuse("it is reserved twice");
  npu.reserved = 1;
  return &npu;
}

void ethosu_release_driver(struct ethosu_driver *drv) { drv->reserved = 0; }

/* The driver actions in front of the commands: 32-bit words, the first of each names it. */
static int check_actions(const unsigned char *data, int size) {
  if (size % 4 != 0 || size < 8 || memcmp(data, "COP1", 4) != 0) return refuse("these are no driver actions");
  int streams = 0;
  for (int at = 4; at < size;) {
    const int length = data[at + 2] | data[at + 3] << 8 | data[at + 1] << 16;
    if (data[at] == OPTIMIZER_CONFIG) {
      at += 12;
    } else if (data[at] == NOP) {
      at += 4;
    } else if (data[at] == COMMAND_STREAM) {
      at += 4;
      if (at % ALIGNMENT != 0) return refuse("the commands are not aligned");
      if (length > (size - at) / 4) return refuse("the commands end behind their memory");
      at += 4 * length;
      ++streams;
    } else {
      return refuse("an action is unknown");
    }
  }
  return streams == 1 ? 0 : refuse("there is not one stream of commands");
}

int ethosu_invoke_v3(struct ethosu_driver *drv, const void *custom_data_ptr, const int custom_data_size,
                     uint64_t *const base_addr, const size_t *base_addr_size, const int num_base_addr, void *user_arg) {
  (void)user_arg;
  if (drv != &npu || !npu.reserved) return refuse("it is not reserved");
  if (!is_aligned((uint64_t)(uintptr_t)custom_data_ptr)) return refuse("the actions are not aligned");
  if (check_actions(custom_data_ptr, custom_data_size) != 0) return -1;
  if (num_base_addr != BASES) return refuse("there are other memories");
  for (int i = 0; i < num_base_addr; ++i) {
    if (!is_aligned(base_addr[i])) return refuse("a memory is not aligned");
  }
  unsigned char *scratch = (unsigned char *)(uintptr_t)base_addr[1];
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    const struct call *call = &calls[i];
    int is_it = call->command_bytes == custom_data_size && base_addr_size[0] == call->constant_bytes &&
                base_addr_size[1] == call->scratch_bytes && (BASES == 2 || base_addr_size[2] == call->fast_bytes);
    for (const struct piece *in = call->inputs; is_it && in->data != NULL; ++in) {
      is_it = memcmp(scratch + in->at, in->data, in->bytes) == 0;
    }
    if (!is_it) continue;
    memset(scratch, 0xa5, call->scratch_bytes);
    if (BASES == 3) memset((void *)(uintptr_t)base_addr[2], 0x5a, call->fast_bytes);
    for (const struct piece *out = call->outputs; out->data != NULL; ++out) {
      memcpy(scratch + out->at, out->data, out->bytes);
    }
    return 0;
  }
  return refuse("no recorded call had these tensors and sizes");
}
