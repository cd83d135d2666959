/* Runs a command stream on the NPU. vela determined the offsets of tensors in the workspace: inputs are copied to it,
 * outputs from it. */
#include "ethosu.h"

#include <ethosu_driver.h>
#include <stddef.h>
#include <string.h>

enum { BAD_VALUE = 5 };                             /* a mslite_status */
enum { CONSTANTS, SCRATCH, FAST_SCRATCH, REGIONS }; /* memory regions, as numbered by the commands */

static uint64_t address(const void *memory) { return (uint64_t)(uintptr_t)memory; }

void mslite_ethosu_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const mslite_ethosu *own = run->derived;
  const void *commands = run->inputs[0];
  unsigned char *scratch = run->shared;
  const mslite_ethosu_piece *piece = own->pieces;
  for (int32_t i = 0; i < own->input_count; ++i, ++piece) {
    memcpy(scratch + piece->at, run->inputs[2 + i], (size_t)piece->bytes);
  }
  /* The driver needs an address even if there are no constants. */
  const void *constants = own->constant_bytes > 0 ? run->inputs[1] : commands;
  uint64_t addresses[REGIONS] = {address(constants), address(scratch), address(scratch + own->fast_at)};
  const size_t sizes[REGIONS] = {(size_t)own->constant_bytes, (size_t)own->scratch_bytes, (size_t)own->fast_bytes};
  const int regions = own->fast_bytes > 0 ? REGIONS : FAST_SCRATCH;
  struct ethosu_driver *driver = ethosu_reserve_driver();
  const int status = ethosu_invoke_v3(driver, commands, (int)own->command_bytes, addresses, sizes, regions, NULL);
  ethosu_release_driver(driver);
  if (status != 0) {
    if (run->failure != NULL) run->failure->status = BAD_VALUE;
    return;
  }
  for (int32_t i = 0; i < own->output_count; ++i, ++piece) {
    memcpy(run->outputs[i], scratch + piece->at, (size_t)piece->bytes);
  }
}
