/* Runs models on inputs that arrive over a serial line. tools/replay.py sends them.
 *
 * All integers are little-endian. A request consists of "MSRQ", the index of the model (1 byte), the total size of its
 * inputs (4 bytes), the inputs one after the other, and the CRC-32 of everything after "MSRQ" (4 bytes). The response
 * consists of "MSRS", the status (1 byte: 0 success, 1 no such model, 2 wrong size, 3 wrong CRC, 4 the run failed), the
 * total size of the outputs (4 bytes), the outputs, and the CRC-32 of everything after "MSRS" (4 bytes). */
#ifndef REPLAY_H_
#define REPLAY_H_

#include <stdint.h>

/* Waits for one request, runs the model and sends the response. `read` waits for a byte and returns it. */
void ReplayOnce(uint8_t (*read)(void), void (*write)(uint8_t byte));

#endif /* REPLAY_H_ */
