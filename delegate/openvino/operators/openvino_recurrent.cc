// RNN, LSTM and GRU layers, as far as OpenVINO supports them: constant weights, full sequences, its default
// activations.
#include "openvino/operators/families.h"
#include "recurrent/recurrent_plan.h"

namespace mslite {
namespace {
// Index of OpenVINO's gates f i c o (GRU: z r h) in mslite's order i o f c (z r h).
constexpr int32_t kLstmGates[] = {2, 0, 3, 1};
constexpr int32_t kOtherGates[] = {0, 1, 2};

const char *NameOf(int32_t function) {
  switch (function) {
    case RECURRENT_SIGMOID:
      return "sigmoid";
    case RECURRENT_TANH:
      return "tanh";
    case RECURRENT_RELU:
      return "relu";
    default:
      return nullptr;
  }
}

int32_t ActivationsOf(const mslite_recurrent_plan &p) {
  return p.cell == RECURRENT_LSTM ? 3 : p.cell == RECURRENT_GRU ? 2 : 1;
}

std::string WhyNotForm(const mslite_recurrent_plan &p) {
  if (p.lengths >= 0) return "sequences with different lengths";
  if (p.peepholes >= 0) return "peepholes";
  if (p.projection >= 0 || p.projection_bias >= 0) return "a projection";
  if (p.normalization >= 0) return "a normalization of the gates";
  if (p.rounding != 0) return "states that are rounded to 8 bits";
  if (p.input_forget != 0 || p.cell_clip != 0) return "unsupported parameters";
  for (int32_t i = 0; i < ActivationsOf(p); ++i) {
    for (int32_t direction = 0; direction < p.directions; ++direction) {
      const int32_t function = p.activations[direction][i].function;
      if (NameOf(function) == nullptr) return "OpenVINO's layer does not support the activation";
      if (function != p.activations[0][i].function) return "the directions have different activations";
    }
  }
  return "";
}

std::string WhyNotRecurrent(const mslite_node &node) {
  mslite_recurrent_plan p;
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (const char *why = mslite_plan_recurrent(node.op, node.params, node.inputs, node.input_count, &p);
      why != nullptr) {
    return why;
  }
  for (const int32_t operand : {p.weight_input, p.weight_hidden, p.bias}) {
    if (operand >= 0 && node.inputs[operand]->data == nullptr) return "the weights are not constant";
  }
  return WhyNotForm(p);
}

// Reorders weights [directions][gates * hidden][length] to OpenVINO's order of gates.
std::vector<float> Rows(const mslite_node &node, const mslite_recurrent_plan &p, int32_t operand, const int64_t *begins,
                        int64_t length) {
  const std::vector<float> source = FloatsOf(*node.inputs[operand]);
  const int32_t *order = p.cell == RECURRENT_LSTM ? kLstmGates : kOtherGates;
  std::vector<float> rows;
  for (int32_t direction = 0; direction < p.directions; ++direction) {
    for (int32_t gate = 0; gate < p.gates; ++gate) {
      const auto begin = source.begin() + begins[direction] + p.place[order[gate]] * p.hidden * length;
      rows.insert(rows.end(), begin, begin + p.hidden * length);
    }
  }
  return rows;
}

// Returns the sum of the biases of input and hidden state. For the last gate of a GRU that resets after the matmul, the
// two biases are concatenated instead.
OpenVinoValue Biases(OpenVinoPlan *plan, const mslite_recurrent_plan &p) {
  const bool is_apart = p.cell == RECURRENT_GRU && p.linear_before_reset != 0;
  const int64_t rows = p.gates * p.hidden;
  std::vector<float> input(static_cast<size_t>(p.directions * rows), 0.0f);
  std::vector<float> hidden = input;
  if (p.bias >= 0) {
    if (p.bias_at[0] >= 0) input = Rows(plan->node(), p, p.bias, p.bias_at, 1);
    if (p.hidden_bias_at[0] >= 0) hidden = Rows(plan->node(), p, p.bias, p.hidden_bias_at, 1);
  }
  std::vector<float> biases;
  for (int64_t direction = 0; direction < p.directions; ++direction) {
    const int64_t summed = is_apart ? rows - p.hidden : rows;
    for (int64_t i = 0; i < rows; ++i) {
      const auto at = static_cast<size_t>(direction * rows + i);
      biases.push_back(i < summed ? input[at] + hidden[at] : input[at]);
    }
    for (int64_t i = summed; i < rows; ++i) biases.push_back(hidden[static_cast<size_t>(direction * rows + i)]);
  }
  return plan->Reals({p.directions, static_cast<int64_t>(biases.size()) / p.directions}, biases);
}

// Returns the initial state [batch, directions, state]; zeros if the node has none.
OpenVinoValue InitialState(OpenVinoPlan *plan, const mslite_recurrent_plan &p, int32_t operand) {
  if (operand < 0) {
    return plan->Reals({p.batch, p.directions, p.hidden},
                       std::vector<float>(static_cast<size_t>(p.batch * p.directions * p.hidden), 0.0f));
  }
  if (p.batch_first != 0) return plan->Reshaped(plan->Input(operand), {p.batch, p.directions, p.hidden});
  return plan->Transposed(plan->Reshaped(plan->Input(operand), {p.directions, p.batch, p.hidden}), {1, 0, 2});
}

OpenVinoPlan::Attributes AttributesOf(const mslite_recurrent_plan &p) {
  std::string activations;
  for (int32_t i = 0; i < ActivationsOf(p); ++i) {
    activations += (i == 0 ? "" : ",") + std::string(NameOf(p.activations[0][i].function));
  }
  const char *direction = p.directions == 2 ? "bidirectional" : p.first_reverse != 0 ? "reverse" : "forward";
  OpenVinoPlan::Attributes attributes = {{"hidden_size", std::to_string(p.hidden)},
                                         {"direction", direction},
                                         {"activations", activations},
                                         {"activations_alpha", ""},
                                         {"activations_beta", ""},
                                         {"clip", TextOf(p.clip)}};
  if (p.cell == RECURRENT_GRU) {
    attributes.push_back({"linear_before_reset", p.linear_before_reset != 0 ? "true" : "false"});
  }
  return attributes;
}

void PlanRecurrent(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_recurrent_plan p;
  mslite_plan_recurrent(node.op, node.params, node.inputs, node.input_count, &p);
  const bool is_lstm = p.cell == RECURRENT_LSTM;
  std::vector<OpenVinoValue> inputs;
  inputs.push_back(p.batch_first != 0 ? plan->Input(0) : plan->Transposed(plan->Input(0), {1, 0, 2}));
  inputs.push_back(InitialState(plan, p, p.initial_hidden));
  if (is_lstm) inputs.push_back(InitialState(plan, p, p.initial_cell));
  inputs.push_back(plan->Indices(std::vector<int32_t>(static_cast<size_t>(p.batch), static_cast<int32_t>(p.time))));
  const int64_t rows = p.gates * p.hidden;
  inputs.push_back(
      plan->Reals({p.directions, rows, p.input}, Rows(node, p, p.weight_input, p.weight_input_at, p.input)));
  inputs.push_back(
      plan->Reals({p.directions, rows, p.hidden}, Rows(node, p, p.weight_hidden, p.weight_hidden_at, p.hidden)));
  inputs.push_back(Biases(plan, p));
  const char *type = is_lstm ? "LSTMSequence" : p.cell == RECURRENT_GRU ? "GRUSequence" : "RNNSequence";
  OpenVinoValue output = plan->Layer(type, inputs, AttributesOf(p), "opset5", is_lstm ? 3 : 2);
  // OpenVINO's sequence output is [batch, directions, time, state]; its states are [batch, directions, state].
  const bool is_whole = p.batch_first != 0;
  OpenVinoValue y = plan->Transposed(output, is_whole        ? std::vector<int64_t>{0, 2, 1, 3}
                                             : p.joined != 0 ? std::vector<int64_t>{2, 0, 1, 3}
                                                             : std::vector<int64_t>{2, 1, 0, 3});
  plan->Give(plan->Reshaped(y, DimsOf(*node.outputs[0])));
  for (int32_t i = 1; i < node.output_count; ++i) {
    ++output.port;
    const OpenVinoValue state = is_whole ? output : plan->Transposed(output, {1, 0, 2});
    plan->Give(plan->Reshaped(state, DimsOf(*node.outputs[i])), i);
  }
}

constexpr OpenVinoOperator kRecurrentOperators[] = {
    {MSLITE_OP_LSTM, WhyNotRecurrent, PlanRecurrent},         {MSLITE_OP_GRU, WhyNotRecurrent, PlanRecurrent},
    {MSLITE_OP_LSTMSequence, WhyNotRecurrent, PlanRecurrent}, {MSLITE_OP_GRUSequence, WhyNotRecurrent, PlanRecurrent},
    {MSLITE_OP_RNNSequence, WhyNotRecurrent, PlanRecurrent},  {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoRecurrent() { return kRecurrentOperators; }
}  // namespace mslite
