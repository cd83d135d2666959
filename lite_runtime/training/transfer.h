// Transfer learning: trains a head on a frozen backbone.
#ifndef MSLITE_TRAINING_TRANSFER_H
#define MSLITE_TRAINING_TRANSFER_H

#include <memory>

#include "model/bytes.h"

namespace mslite {
// Joins a backbone for inference and a training model of its head to one training model. Each output of the backbone
// becomes the first free input of the head with its data type and shape, or with that shape in the other layout
// (channels first or last). The inputs are those of the backbone, then the remaining inputs of the head. The backbone
// is frozen. Errors: kLiteParamInvalid if an output of the backbone matches no input; kLiteNotSupport for control flow,
// side files, models of different versions, more than 2 GiB, and a backbone that is a training model.
Status JoinModels(const std::shared_ptr<const Bytes> &backbone, const std::shared_ptr<const Bytes> &head,
                  std::shared_ptr<const Bytes> *joined);
}  // namespace mslite

#endif
