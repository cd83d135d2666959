// Transfer learning: a head that learns behind a backbone that does not.
#ifndef MSLITE_TRAINING_TRANSFER_H
#define MSLITE_TRAINING_TRANSFER_H

#include <memory>

#include "model/bytes.h"

namespace mslite {
// Makes one training model of a backbone for inference and a training model for its head. Each output of the backbone
// becomes the first input of the head that has its type and shape and is not taken yet; behind an NHWC output also an
// NCHW one. The inputs are those of the backbone, then what is left of the head's. Nothing of the backbone changes in
// training, whatever its element types are.
// Errors: kLiteParamInvalid where an output of the backbone fits no input; kLiteNotSupport for control flow, files of
// constants beside, models of different versions, more than 2 GiB, and a backbone that is a training model itself.
Status JoinModels(const std::shared_ptr<const Bytes> &backbone, const std::shared_ptr<const Bytes> &head,
                  std::shared_ptr<const Bytes> *joined);
}  // namespace mslite

#endif
