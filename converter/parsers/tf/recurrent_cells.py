"""Recognizes LSTM, GRU and plain RNN cells in the nodes of one step of a recurrent network.

A recognized cell has the same results as the fused operator, except for rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.recurrent import GRUSequence, LSTMSequence, RNNSequence
from mslite.converter.mindir.ops.unary import Clip

from .recurrent_gates import Floats, Gate, GateReader, Sum, operands, same_function


@dataclass(frozen=True)
class Cell:
    """A cell: the fused operator and its constant operands; weights are [gates * hidden, ...]."""

    operator: Operator
    weight_input: Floats
    weight_hidden: Floats
    bias: Floats
    peepholes: Floats | None = None
    projection: Floats | None = None


class CellReader(GateReader):
    """Recognizes cells. x is [batch, input]; `h`, `c` are the states before the step, `next_h`, `next_c` after it."""

    def lstm(self, x: Value, h: Value, c: Value, next_h: Value, next_c: Value) -> Cell | None:
        """Returns the LSTM cell, or None: h' = o * act(c') (times a projection), c' = f * c + i * g."""
        projection, value = None, next_h
        split = self.product(next_h)
        if split is not None:
            value, projection = split
        for out, squashed in operands(value, MulFusion):
            o, last = self.gate(out), self.gate(squashed)
            if o is None or last is None or last.inner is not next_c or last.part is not None:
                continue
            clip, whole_c = _unclipped(next_c)
            for kept, added in operands(whole_c, AddFusion):
                for forget, old in operands(kept, MulFusion):
                    for into, candidate in operands(added, MulFusion):
                        gates = [self.gate(value) for value in (into, forget, candidate)]
                        if old is c and all(gate is not None for gate in gates):
                            i, f, g = (gate for gate in gates if gate is not None)
                            cell = self._lstm((x, h, c, next_c), (i, o, f, g), last, clip, projection)
                            if cell is not None:
                                return cell
        return None

    def _lstm(
        self,
        values: tuple[Value, Value, Value, Value],
        gates: Sequence[Gate],
        last: Gate,
        clip: float,
        projection: Floats | None,
    ) -> Cell | None:
        x, h, c, next_c = values
        i, o, f, g = gates
        if not (same_function(i, o) and same_function(i, f)):
            return None
        sums = self.sums_over(gates, (x, h))
        if sums is None:
            return None
        size = sums[0].width
        peepholes = np.zeros((3, size), np.float32)
        for number, source in enumerate((c, next_c, c)):
            if set(sums[number].scales) - {source}:
                return None
            peepholes[number] = sums[number].scales.get(source, peepholes[number])
        if sums[3].scales or (projection is not None and projection.shape[0] != size):
            return None
        names, alpha, beta = _functions((i, g, last))
        op = LSTMSequence(
            activations=names,
            activation_alpha=alpha,
            activation_beta=beta,
            cell_clip=clip,
            has_bias=True,
            has_initial_hidden=True,
            has_initial_cell=True,
            has_peepholes=bool(peepholes.any()),
            has_projection=projection is not None,
        )
        w, r, bias = _stacked(sums, x, h, h)
        return Cell(op, w, r, bias, peepholes.ravel() if peepholes.any() else None, projection)

    def gru(self, x: Value, h: Value, next_h: Value) -> Cell | None:
        """Returns the GRU cell, or None: h' = z * h + (1 - z) * g."""
        for kept, added in operands(next_h, AddFusion):
            for update, old in operands(kept, MulFusion):
                for rest, candidate in operands(added, MulFusion):
                    z, g = self.gate(update), self.gate(candidate)
                    if old is h and z is not None and g is not None and self._is_rest(rest, update):
                        cell = self._gru(x, h, z, g)
                        if cell is not None:
                            return cell
        return None

    def _is_rest(self, value: Value, update: Value) -> bool:
        """Returns whether value = 1 - update."""
        node = value.producer
        if node is None or not isinstance(node.op, SubFusion) or len(node.inputs) != 2:
            return False
        one = self.constant(node.inputs[0])
        return one is not None and node.inputs[1] is update and bool((np.asarray(one) == 1).all())

    def _gru(self, x: Value, h: Value, z: Gate, g: Gate) -> Cell | None:
        """Returns the GRU cell of gates z and g, or None. The candidate has (r * h) @ R or r * (h @ R + b)."""
        whole = self.inside(g)
        if whole is not None:
            others = [source for source in whole.products if source is not x]
            for reset, factor, old in [(source, *pair) for source in others for pair in operands(source, MulFusion)]:
                r = self.gate(factor)
                sums = self.sums_over((z, r), (x, h)) if r is not None and old is h else None
                if sums is not None and r is not None:
                    return self._made_gru(
                        [*sums, whole], (x, h, reset), (z, r, g), np.zeros(whole.width, np.float32), False
                    )
            return None
        for outer, product in operands(g.inner, AddFusion) if g.part is None else ():
            for factor, hidden in operands(product, MulFusion):
                r, inputs, states = self.gate(factor), self.sum_of(outer), self.sum_of(hidden)
                if r is None or inputs is None or states is None or set(states.products) != {h}:
                    continue
                sums = self.sums_over((z, r), (x, h))
                if sums is None or set(inputs.products) != {x} or states.scales:
                    continue
                joined = Sum(inputs.width, inputs.bias, {**inputs.products, **states.products}, inputs.scales)
                return self._made_gru([*sums, joined], (x, h, h), (z, r, g), states.bias, True)
        return None

    def _made_gru(
        self,
        sums: Sequence[Sum],
        sources: tuple[Value, Value, Value],
        gates: tuple[Gate, Gate, Gate],
        hidden_bias: Floats,
        linear_before_reset: bool,
    ) -> Cell | None:
        x, h, reset = sources
        z, r, g = gates
        if not same_function(z, r) or any(part.scales for part in sums) or set(sums[2].products) != {x, reset}:
            return None
        names, alpha, beta = _functions((z, g))
        op = GRUSequence(
            activations=names,
            activation_alpha=alpha,
            activation_beta=beta,
            linear_before_reset=linear_before_reset,
            has_bias=True,
            has_initial_hidden=True,
        )
        w, recurrent, bias = _stacked(sums, x, h, reset)
        bias[-len(hidden_bias) :] = hidden_bias
        return Cell(op, w, recurrent, bias)

    def plain(self, x: Value, h: Value, next_h: Value) -> Cell | None:
        """Returns the plain RNN cell, or None: h' = act(x @ W + h @ R + b)."""
        gate = self.gate(next_h)
        sums = self.sums_over((gate,), (x, h)) if gate is not None else None
        if gate is None or sums is None or sums[0].scales:
            return None
        names, alpha, beta = _functions((gate,))
        op = RNNSequence(
            activations=names, activation_alpha=alpha, activation_beta=beta, has_bias=True, has_initial_hidden=True
        )
        return Cell(op, *_stacked(sums, x, h, h))


def _unclipped(value: Value) -> tuple[float, Value]:
    """Returns the limit of a symmetric Clip (0 if there is none) and the value before it."""
    node = value.producer
    if node is None or not isinstance(node.op, Clip) or node.op.min != -node.op.max or node.op.max <= 0:
        return 0.0, value
    return node.op.max, node.inputs[0]


def _functions(gates: Sequence[Gate]) -> tuple[str, tuple[float, ...], tuple[float, ...]]:
    """Returns the names of the activations, and the alphas and betas of those that have them."""
    given = [gate.parameters for gate in gates if gate.parameters]
    return " ".join(gate.name for gate in gates), tuple(a for a, _ in given), tuple(b for _, b in given)


def _stacked(sums: Sequence[Sum], x: Value, h: Value, last: Value) -> tuple[Floats, Floats, Floats]:
    """Returns input weights, recurrent weights and biases, concatenated by gate. The recurrent source of the last gate
    is `last`. The second half of the biases is 0."""
    hidden = [*(part.products[h] for part in sums[:-1]), sums[-1].products[last]]
    bias = np.concatenate([part.bias for part in sums])
    return (
        np.concatenate([part.products[x].T for part in sums]),
        np.concatenate([matrix.T for matrix in hidden]),
        np.concatenate([bias, np.zeros_like(bias)]),
    )
