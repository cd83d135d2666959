/* The board's side of tools/replay.py: runs models on inputs that arrive over a serial line.
 *
 * All numbers are little-endian. A request is "MSRQ", the model (1 byte), the size of all its inputs together (4
 * bytes), the inputs one after the other, and the CRC-32 of everything from the model on (4 bytes). The answer is
 * "MSRS", the status (1 byte: 0 good, 1 no such model, 2 wrong size, 3 wrong CRC, 4 the run failed), the size of all
 * outputs (4 bytes), the outputs, and the CRC-32 of everything from the status on. */
#ifndef REPLAY_H_
#define REPLAY_H_

#include <stdint.h>

/* Waits for one request and answers it. The program gives both functions: read waits for the next byte. */
void ReplayOnce(uint8_t (*read)(void), void (*write)(uint8_t byte));

#endif /* REPLAY_H_ */
