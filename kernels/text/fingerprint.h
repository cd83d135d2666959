/* FarmHash's 64-bit fingerprint of any number of bytes. */
#ifndef MSLITE_FINGERPRINT_H
#define MSLITE_FINGERPRINT_H

#include <stdint.h>

uint64_t mslite_fingerprint(const uint8_t *key, int64_t length);

#endif
