"""Recurrent layers in the form of TensorFlow Lite's converter for layers that Keras does not unroll: a WHILE loop.

Each iteration inserts a row into the list of results, between two slices of the list.
"""

from __future__ import annotations

import numpy as np

from tests.parsers.tflite.tflite_build import Array, Field, Graph, Operator, Tensor, build

STEPS, WIDTH, UNITS = 5, 3, 4
_FEATURES, _STATE, _SUM = (0.02, 3), (1 / 128, 0), (0.03, -5)
_ADD: tuple[dict[int, Field], str] = ({}, "AddOptions")


class _Body:
    """A graph under construction."""

    def __init__(self, *inputs: Tensor) -> None:
        self.tensors, self.operators = list(inputs), list[Operator]()

    def constant(self, data: Array, quant: tuple[float, int] | None = None) -> int:
        self.tensors.append(Tensor(f"c{len(self.tensors)}", data=data, quant=quant))
        return len(self.tensors) - 1

    def call(
        self, name: str, result: Tensor, *inputs: int, options: tuple[dict[int, Field], str] = ({}, "NONE")
    ) -> int:
        self.tensors.append(result)
        self.operators.append(Operator(name, inputs, [len(self.tensors) - 1], *options))
        return len(self.tensors) - 1


def recurrent(stored: bool) -> bytes:
    """h = tanh(x[i] W + h V), collected; [STEPS, 1, WIDTH] -> [STEPS, 1, UNITS] and the last state. int8 if `stored`."""
    draw = np.random.default_rng(7)
    count = 0

    def tensor(shape: tuple[int, ...], quant: tuple[float, int]) -> Tensor:
        nonlocal count
        count += 1
        return Tensor(f"t{count}", shape, "int8", quant=quant) if stored else Tensor(f"t{count}", shape)

    def integer(shape: tuple[int, ...] = ()) -> Tensor:
        nonlocal count
        count += 1
        return Tensor(f"i{count}", shape, "int32")

    def variables() -> list[Tensor]:
        return [
            integer(),
            tensor((STEPS, 1, UNITS), _STATE),
            tensor((1, UNITS), _STATE),
            tensor((STEPS, 1, WIDTH), _FEATURES),
        ]

    def weights(inputs: int) -> tuple[Array, tuple[float, int] | None]:
        if stored:
            return draw.integers(-127, 128, (UNITS, inputs)).astype(np.int8), (0.01, 0)
        return draw.uniform(-1, 1, (UNITS, inputs)).astype(np.float32), None

    def zeros(shape: tuple[int, ...]) -> tuple[Array, tuple[float, int] | None]:
        return (np.zeros(shape, np.int8), _STATE) if stored else (np.zeros(shape, np.float32), None)

    main = _Body(tensor((STEPS, 1, WIDTH), _FEATURES))
    first, rows, state = (
        main.constant(np.array(0, np.int32)),
        main.constant(*zeros((STEPS, 1, UNITS))),
        main.constant(*zeros((1, UNITS))),
    )
    results = [len(main.tensors) + place for place in range(4)]
    main.tensors += variables()
    main.operators.append(
        Operator("WHILE", [first, rows, state, 0], results, {0: ("int", 1), 1: ("int", 2)}, "WhileOptions")
    )
    condition = _Body(*variables())
    goes_on = condition.call("LESS", Tensor("goes_on", (), "bool"), 0, condition.constant(np.array(STEPS, np.int32)))
    body = _Body(*variables())
    following = body.call("ADD", integer(), 0, body.constant(np.array(1, np.int32)), options=_ADD)
    x = body.call("GATHER", tensor((1, WIDTH), _FEATURES), 3, 0, options=({}, "GatherOptions"))
    of_x = body.call("FULLY_CONNECTED", tensor((1, UNITS), _SUM), x, body.constant(*weights(WIDTH)), -1,
                     options=({}, "FullyConnectedOptions"))  # fmt: skip
    of_h = body.call("FULLY_CONNECTED", tensor((1, UNITS), _SUM), 2, body.constant(*weights(UNITS)), -1,
                     options=({}, "FullyConnectedOptions"))  # fmt: skip
    total = body.call("ADD", tensor((1, UNITS), _SUM), of_x, of_h, options=_ADD)
    h = body.call("TANH", tensor((1, UNITS), _STATE), total)
    one = body.constant(np.array([1], np.int32))
    row = body.call("RESHAPE", tensor((1, 1, UNITS), _STATE), h, body.constant(np.array([1, 1, UNITS], np.int32)))

    def bounds(index: int, others: int) -> int:
        scalar = body.call("RESHAPE", integer((1,)), index, one)
        rest = body.constant(np.array([others, others], np.int32))
        return body.call(
            "CONCATENATION", integer((3,)), scalar, rest, options=({0: ("int", 0)}, "ConcatenationOptions")
        )

    begin, end = body.constant(np.array([0, 0, 0], np.int32)), body.constant(np.array([-1, -1, -1], np.int32))

    def rows_of(begin: int, size: int) -> int:
        part = tensor((1, 1, UNITS), _STATE)
        part.signature = (-1, 1, UNITS)
        return body.call("SLICE", part, 1, begin, size, options=({}, "SliceOptions"))

    before, after = rows_of(begin, bounds(0, -1)), rows_of(bounds(following, 0), end)
    joined = body.call("CONCATENATION", tensor((STEPS, 1, UNITS), _STATE), before, row, after,
                       options=({0: ("int", 0)}, "ConcatenationOptions"))  # fmt: skip
    return build(
        Graph(main.tensors, [0], results[1:3], main.operators),
        Graph(condition.tensors, range(4), [goes_on], condition.operators),
        Graph(body.tensors, range(4), [following, joined, h, 3], body.operators),
    )
