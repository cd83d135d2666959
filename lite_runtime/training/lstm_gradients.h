// Gradients of LSTM layers in two nodes.
#ifndef MSLITE_TRAINING_LSTM_GRADIENTS_H
#define MSLITE_TRAINING_LSTM_GRADIENTS_H

#include "model/graph.h"

namespace mslite {
// LSTMGradData leaves the gradients of the gates in the intermediate results of the layer, and LSTMGradWeight reads
// them there: both become one LSTMGrad in the place of the first, which needs no such results.
// Errors: kLiteGraphFileError for one whose layer is not there, or that has no part for the data.
Status JoinLstmGradients(Graph *graph);
}  // namespace mslite

#endif
