// Joins the two gradient nodes of LSTM layers.
#ifndef MSLITE_TRAINING_LSTM_GRADIENTS_H
#define MSLITE_TRAINING_LSTM_GRADIENTS_H

#include "model/graph.h"

namespace mslite {
// LSTMGradData stores the gradients of the gates in the intermediate results of the layer, and LSTMGradWeight reads
// them from there. Replaces both by one LSTMGrad, which does not need these results. Errors: kLiteGraphFileError if the
// layer or LSTMGradData is missing.
Status JoinLstmGradients(Graph *graph);
}  // namespace mslite

#endif
