/* Layouts of tensors. The values are those of the C++ API. */
#ifndef MINDSPORE_INCLUDE_C_API_FORMAT_C_H
#define MINDSPORE_INCLUDE_C_API_FORMAT_C_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MSFormat {
  kMSFormatNCHW = 0,
  kMSFormatNHWC = 1,
  kMSFormatNHWC4 = 2,
  kMSFormatHWKC = 3,
  kMSFormatHWCK = 4,
  kMSFormatKCHW = 5,
  kMSFormatCKHW = 6,
  kMSFormatKHWC = 7,
  kMSFormatCHWK = 8,
  kMSFormatHW = 9,
  kMSFormatHW4 = 10,
  kMSFormatNC = 11,
  kMSFormatNC4 = 12,
  kMSFormatNC4HW4 = 13,
  kMSFormatNCDHW = 15,
  kMSFormatNWC = 16,
  kMSFormatNCW = 17,
} MSFormat;

#ifdef __cplusplus
}
#endif
#endif
