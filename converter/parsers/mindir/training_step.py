"""Reads training steps that MindSpore exports (`export(TrainOneStepCell(...))`): network, loss and optimizer settings.

The gradient nodes of the file are ignored: the converter computes the gradients of the network itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from mslite.converter.encryption import Opener
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.parsers.protobuf import Message
from mslite.converter.text_shortening import quoted, shortened
from mslite.converter.training.settings import BatchNorm, Loss, Optimizer, TrainSettings

from . import cross_entropy
from .file import load
from .messages import GraphProto, ModelProto
from .tensors import TensorError, TensorReader
from .values import contents

_PASSING = frozenset({"Load", "Depend", "Reshape", "Cast"})
"""Primitives that do not change the value of a scalar."""
_STRUCTURE = _PASSING | {"Constant", "UpdateState", "MakeTuple", "TupleGetItem"}

_LOSSES = {
    frozenset({"SparseSoftmaxCrossEntropyWithLogits"}): Loss.SPARSE_SOFTMAX,
    frozenset({"OneHot", "SoftmaxCrossEntropyWithLogits", "ReduceMean"}): Loss.SPARSE_SOFTMAX,
    frozenset({"SoftmaxCrossEntropyWithLogits", "ReduceMean"}): Loss.SOFTMAX,
    frozenset({"Sub", "Square", "ReduceMean"}): Loss.SQUARED,
    frozenset({"Sub", "Abs", "ReduceMean"}): Loss.ABSOLUTE,
    frozenset({"SigmoidCrossEntropyWithLogits", "ReduceMean"}): Loss.SIGMOID,
    frozenset({"BCEWithLogitsLoss"}): Loss.SIGMOID,
    frozenset({"SmoothL1Loss"}): Loss.SMOOTH_L1,
    frozenset({"SmoothL1Loss", "ReduceMean"}): Loss.SMOOTH_L1,
    cross_entropy.KINDS: Loss.SPARSE_SOFTMAX,
}
"""Primitives of a loss -> the loss; its reduction is the mean."""
_GRADIENT_PLACES = {"SmoothL1LossGrad": 2, "BinaryCrossEntropyWithLogitsBackward": 0}
"""Gradient primitives of losses that are one node -> index of the operand that is the gradient of the loss."""
_NORMALIZATIONS = ("BatchNorm", "FusedBatchNormEx")


def training_settings(path: Path, stated: TrainSettings, opener: Opener | None = None) -> TrainSettings:
    """Returns `stated`, completed by the settings of the training step in the file. Values that the user set are kept.
    Returns `stated` itself if the file is a network without an optimizer.

    Raises ConversionError for a file that cannot be read, and for a loss or an optimizer that mslite does not support.
    """
    step = _Step(str(path), load(path, opener), TensorReader(path.parent, opener))
    return step.settings(stated) if step.optimizers else stated


def network(model: Message, name: str, reader: TensorReader) -> Message:
    """Returns the network of a training step, without loss and optimizer; the model itself if it has no optimizer."""
    step = _Step(name, model, reader)
    return step.network() if step.optimizers else model


class _Step:
    """The main graph of a training step: finds the nodes of its network, loss and optimizer."""

    def __init__(self, name: str, model: Message, reader: TensorReader) -> None:
        self._name, self._model, self._reader = name, model, reader
        self._primitives = {primitive.name: primitive for primitive in model.primitives}
        self._makers = {output: node for node in model.graph.node for output in node.output}
        self._parameters = {tensor.name: tensor for tensor in model.graph.parameter}
        self.optimizers = [node for node in model.graph.node if self._kind(node) in _OPTIMIZERS]

    def _kind(self, node: Message) -> str:
        shared = self._primitives.get(node.op_type.removeprefix("REF::"))
        name = node.op_type if shared is None else shared.op_type
        return str(name).removeprefix("S-Prim-")

    def _error(self, what: str, remedy: str) -> ConversionError:
        return ConversionError(f"{self._name}: {what}. {remedy}", code=ReturnCode.NOT_SUPPORTED)

    def _damaged(self, node: Message, what: str) -> ConversionError:
        return ConversionError(
            f"{self._name}: node {quoted(str(node.name))} ({shortened(self._kind(node))}) of the training step {what}. "
            "The file is damaged; export it again",
            code=ReturnCode.GRAPH_FILE_ERROR,
        )

    def operand(self, node: Message, place: int) -> str:
        """Returns the name of an operand; raises ConversionError if it is missing."""
        if place >= len(node.input):
            raise self._damaged(node, f"has {len(node.input)} operands; operand {place + 1} is missing")
        return str(node.input[place])

    def _result(self, node: Message) -> str:
        """Returns the name of the node's single result."""
        if len(node.output) != 1:
            raise self._damaged(node, f"has {len(node.output)} results instead of one")
        return str(node.output[0])

    def _plain(self, name: str) -> str:
        return str(name.removeprefix(f"{self._model.graph.name}:"))

    # ---- constants ----

    def _source(self, name: str) -> str:
        """Returns the name that a value has before all nodes that only pass it on."""
        seen: set[str] = set()
        while (node := self._makers.get(name)) is not None and self._kind(node) in _PASSING and node.input:
            if name in seen:
                raise self._damaged(node, "reads its own result")
            seen.add(name)
            name = node.input[0]
        return name

    def _value(self, name: str) -> Any:
        """Returns the contents of a constant or a parameter; None for a value that a node computes."""
        source = self._source(name)
        try:
            if source in self._parameters:
                return self._reader.array(self._parameters[source])
            node = self._makers.get(source)
            if node is not None and node.op_type == "Constant" and node.attribute:
                return contents(node.attribute[0], self._reader)
        except TensorError as error:
            raise self._error(f"'{self._plain(source)}': {error}", "Export the model again") from None
        return None

    def number(self, name: str) -> float | None:
        """Returns the value of a scalar constant; None for computed values and for constants that are not scalars."""
        value = self._value(name)
        if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "biuf":
            value = value.reshape(-1)[0].item()
        if not isinstance(value, bool | int | float) or isinstance(value, Enum):
            return None
        if not math.isfinite(value):
            raise self._error(f"'{self._plain(name)}' is {value}, which is not finite", "Export the model again")
        return float(value)

    def attribute(self, node: Message, name: str) -> Any:
        shared = self._primitives.get(node.op_type.removeprefix("REF::"))
        for each in [*([] if shared is None else shared.attribute), *node.attribute]:
            if each.name == name:
                try:
                    return contents(each, self._reader)
                except TensorError as error:
                    raise self._damaged(node, f"has the attribute '{name}': {error}") from None
        return None

    # ---- the loss ----

    def _is_of_loss(self, node: Message) -> bool:
        """Returns whether a node is part of the loss: MindSpore names nodes after their cell."""
        scope = str(node.domain)
        return "_loss_fn" in scope and not scope.startswith("Gradients/") and "optimizer-" not in scope

    def _loss_nodes(self) -> list[Message]:
        nodes = [node for node in self._model.graph.node if self._is_of_loss(node) and node.op_type != "Constant"]
        if not nodes:
            raise self._error(
                "it has an optimizer, but no node name contains the name of a loss (_loss_fn)",
                "Export TrainOneStepCell(WithLossCell(network, loss), optimizer)",
            )
        return self._with_what_reads(nodes)

    def _with_what_reads(self, nodes: list[Message]) -> list[Message]:
        """Returns the nodes and the forward nodes that read their results. Names do not show that: MindSpore names a
        `+` in a loss after the first `+` in the network."""
        found, made = {id(node) for node in nodes}, {output for node in nodes for output in node.output}
        for node in self._model.graph.node:
            is_forward = not node.domain.startswith("Gradients/") and "optimizer-" not in node.domain
            if is_forward and self._kind(node) not in _STRUCTURE and any(name in made for name in node.input):
                found.add(id(node))
                made.update(node.output)
        return [node for node in self._model.graph.node if id(node) in found]

    def _output(self) -> str:
        """Returns the name of the network's output, which the loss reads."""
        nodes = self._loss_nodes()
        made = {output for node in nodes for output in node.output}
        inputs = {info.name for info in self._model.graph.input}
        found = {
            name
            for node in nodes
            if self._kind(node) not in ("Load", "UpdateState", "Depend")
            for name in node.input
            if name not in made
            and name not in inputs
            and (maker := self._makers.get(name)) is not None
            and self._kind(maker) not in ("Constant", "UpdateState")
        }
        if len(found) != 1:
            names = ", ".join(f"'{self._plain(name)}'" for name in sorted(found)) or "nothing"
            raise self._error(
                f"its loss reads {names} of the network; it must read one value", "Export a network with one output"
            )
        return str(found.pop())

    def _loss(self) -> Loss:
        nodes = self._loss_nodes()
        kinds = frozenset(self._kind(node) for node in nodes) - _STRUCTURE
        loss = _LOSSES.get(kinds)
        if loss is None:
            raise self._error(
                f"its loss ({', '.join(sorted(kinds))}) is not one of {', '.join(one.value for one in Loss)}",
                "Set the loss to train with: loss=... in [train_param]",
            )
        if kinds == cross_entropy.KINDS:
            fault = cross_entropy.fault([(self._kind(node), list(node.input)) for node in nodes], self._value)
            if fault:
                raise self._error(
                    f"its loss CrossEntropyLoss {fault}", "Set the loss to train with: loss=... in [train_param]"
                )
        for node in nodes:
            if self._kind(node) in ("BCEWithLogitsLoss", "SmoothL1Loss") and "ReduceMean" not in kinds:
                self._check_mean(node)
        return loss

    def _check_mean(self, node: Message) -> None:
        """Checks that a loss of one node is the unweighted mean, the only supported form. Raises ConversionError."""
        values = [self._value(name) for name in node.input[2:]]
        stated = [self.attribute(node, "reduction"), *values]
        reduction = next((value for value in stated if isinstance(value, str)), "mean")
        numbers = [np.asarray(value) for value in values if not isinstance(value, str) and value is not None]
        if reduction != "mean" or any(np.any(array != 1) for array in numbers):
            raise self._error(
                f"its loss {self._kind(node)} is weighted, or its reduction is not the mean",
                "Set the loss to train with: loss=... in [train_param]",
            )

    def _loss_scale(self) -> float:
        """Returns the loss scale, `sens` of TrainOneStepCell, which multiplies the gradient of the loss. MindSpore
        omits a factor of 1, and folds other factors into constants."""
        found = [scale for node in self._model.graph.node for scale in self._scales_at(node)]
        if len(set(found)) != 1 or found[0] is None:
            raise self._error(
                "its loss scale (sens) is not a constant in the file",
                "Export TrainOneStepCell with a constant sens, or set loss=... in [train_param]: then gradients are not scaled",
            )
        return found[0]

    def _scales_at(self, node: Message) -> list[float | None]:
        """Returns the loss scales that the node applies: [] if it applies none, [None] for a computed scale."""
        kind, scope = self._kind(node), str(node.domain)
        if not scope.startswith("Gradients/"):
            return []
        if kind == "RealDiv" and "Grad_ReduceMean" in scope and self._is_before_loss(node):
            return [self._scale_of_mean(node)]
        if "_loss_fn" not in scope or any(self._kind(each) == "ReduceMean" for each in self._loss_nodes()):
            return []
        if kind == "Div":
            return cross_entropy.scales_at(kind, scope, lambda: self.number(self.operand(node, 0)))
        if kind in _GRADIENT_PLACES:
            return [self.number(self.operand(node, _GRADIENT_PLACES[kind]))]
        if kind == "SparseSoftmaxCrossEntropyWithLogits":
            result = self._result(node)
            products = [
                each
                for each in self._model.graph.node
                if self._kind(each) == "Mul" and result in map(self._source, each.input)
            ]
            factors = [name for each in products for name in each.input if self._source(name) != result]
            return [self.number(name) for name in factors] or [1.0]
        return []

    def _is_before_loss(self, mean: Message) -> bool:
        """Returns whether a gradient of the loss reads this gradient of a mean."""
        result = self._result(mean)
        return any(
            "_loss_fn" in str(node.domain) and str(node.domain).startswith("Gradients/")
            for node in self._model.graph.node
            if result in map(self._source, node.input)
        )

    def _scale_of_mean(self, node: Message) -> float | None:
        values, count = self._value(self.operand(node, 0)), self.number(self.operand(node, 1))
        if not isinstance(values, np.ndarray) or not values.size or not count or np.any(values != values.flat[0]):
            return None
        return float(values.flat[0]) * values.size / count

    # ---- the optimizer ----

    def settings(self, stated: TrainSettings) -> TrainSettings:
        kinds = {self._kind(node) for node in self.optimizers}
        if len(kinds) > 1:
            raise self._error(f"it has several optimizers: {', '.join(sorted(kinds))}", "Export a step with one")
        found: dict[str, Any] = {} if "loss" in stated.stated else {"loss": self._loss()}
        if "optimizer" not in stated.stated:
            (kind,) = kinds
            read = _OPTIMIZERS[kind]
            if read is None:
                raise self._error(
                    f"its optimizer {kind} is unsupported",
                    "Set the optimizer to train with: optimizer=... in [train_param]",
                )
            found.update(self._shared(kind, [read(self, node) for node in self.optimizers], stated))
            back = found.pop("gradient_scale")
            if "loss" not in stated.stated:
                found["gradient_scale"] = self._loss_scale() * back
        trained = {self._plain(self._source(self.operand(node, 0))) for node in self.optimizers}
        nodes = self._forward()
        found["frozen"] = stated.frozen | (self._weights(nodes) - trained)
        normalizations = [node for node in nodes if self._kind(node) in _NORMALIZATIONS]
        trains = {self._trains(node) for node in normalizations}
        if len(trains) > 1:
            raise self._error(
                "some of its batch normalizations are trained and others are frozen",
                "Select one with batch_norm=... in [train_param]",
            )
        found["batch_norm"] = BatchNorm.FROZEN if trains == {False} else BatchNorm.TRAIN
        found["dropout"] = True
        return stated.completed(found)

    def _shared(self, kind: str, steps: list[dict[str, Any]], stated: TrainSettings) -> dict[str, Any]:
        """Returns the settings, which must be the same for all weights; only weight decay may be 0 for some of them."""
        decays = [step.pop("weight_decay", 0.0) for step in steps]
        largest = max((decay for decay in decays if decay is not None), default=0.0)
        undecayed = {
            self._plain(self._source(self.operand(node, 0)))
            for node, decay in zip(self.optimizers, decays, strict=True)
            if decay != largest
        }
        same = all(step == steps[0] for step in steps) and all(decay in (0.0, largest) for decay in decays)
        if not same or None in decays:
            raise self._error(f"its {kind} has different settings for some weights", "Set them in [train_param]")
        if steps[0]["gradient_scale"] is None:
            raise self._error(
                f"its {kind} divides gradients by a computed value",
                "Export it with a constant loss_scale, or set optimizer=... in [train_param]",
            )
        for key, value in steps[0].items():
            if value is None and key not in stated.stated:
                raise self._error(
                    f"the {key} of its {kind} is computed by the graph, as with a schedule",
                    f"Set its initial value, {key}=... in [train_param], and change it with an LRScheduler",
                )
        if steps[0]["optimizer"] is Optimizer.ADAM and largest:
            raise self._error(
                "its Adam adds the weight decay to the gradient",
                "Train with AdamWeightDecay, or set optimizer=AdamW in [train_param]",
            )
        return {**steps[0], "weight_decay": largest, "undecayed": frozenset(undecayed)}

    def given(self, node: Message, place: int, decays: bool = True) -> dict[str, float | None]:
        """Returns the gradient scale and the weight decay that MindSpore applies to the gradient before the optimizer's
        step. The gradient is operand `place`; `decays` is False for optimizers that apply the weight decay
        themselves."""
        gradient, scale = self.operand(node, place), 1.0
        product = self._makers.get(gradient)
        if product is not None and self._kind(product) == "Mul" and "optimizer-" in product.domain:
            numbers = [(self.number(name), name) for name in product.input]
            factors = [number for number, _ in numbers if number is not None]
            if len(factors) != 1 or len(numbers) != 2:
                return {"gradient_scale": None, "weight_decay": 0.0}
            (scale,) = factors
            (gradient,) = (name for number, name in numbers if number is None)
        decay = self._decay(node, gradient) if decays else 0.0
        return {"gradient_scale": scale, "weight_decay": None if decay is None else decay * scale}

    def _decay(self, node: Message, gradient: str) -> float | None:
        """Returns the weight decay: the factor of the weight that is added to the gradient; None if it is computed."""
        weight = self._source(self.operand(node, 0))
        sums = self._makers.get(gradient)
        if sums is None or self._kind(sums) not in ("AddN", "Add") or "optimizer-" not in sums.domain:
            return 0.0
        operands = list(sums.input)
        if self._kind(sums) == "AddN" and len(operands) == 1:
            packed = self._makers.get(operands[0])
            operands = [] if packed is None else list(packed.input)
        for name in operands:
            product = self._makers.get(name)
            if product is not None and self._kind(product) == "Mul":
                factors = [self.number(each) for each in product.input if self._source(each) != weight]
                if len(factors) == 1 and factors[0] is not None:
                    return factors[0]
        return None

    # ---- the network ----

    def _forward(self) -> list[Message]:
        """Returns the nodes that the network's output depends on, in the order of the graph."""
        needed, pending = set(), [self._output()]
        while pending:
            name = pending.pop()
            node = self._makers.get(name)
            if node is None or id(node) in needed:
                continue
            needed.add(id(node))
            pending.extend(node.input)
        return [node for node in self._model.graph.node if id(node) in needed]

    def _weights(self, nodes: list[Message]) -> set[str]:
        """Returns the names of float parameters that can be trained: without the statistics of batch normalization."""
        names: set[str] = set()
        for node in nodes:
            names.update(node.input[:3] if self._kind(node) in _NORMALIZATIONS else node.input)
        names &= self._parameters.keys()
        return {self._plain(name) for name in names if self._is_real(self._parameters[name])}

    @staticmethod
    def _is_real(tensor: Message) -> bool:
        return bool(tensor.data_type == 1) and len(tensor.dims) > 0

    def _trains(self, node: Message) -> bool:
        stated = self.attribute(node, "is_training")
        return bool(
            stated if stated is not None else self.number(self.operand(node, 5)) if len(node.input) > 5 else False
        )

    def network(self) -> Message:
        output = self._output()
        nodes = self._forward()
        read = {name for node in nodes for name in node.input}
        graph = GraphProto()
        graph.CopyFrom(self._model.graph)
        for field in ("node", "input", "output", "parameter"):
            graph.ClearField(field)
        graph.node.extend(nodes)
        graph.input.extend(info for info in self._model.graph.input if info.name in read)
        graph.parameter.extend(tensor for tensor in self._model.graph.parameter if tensor.name in read)
        graph.output.add(name=output)
        model = ModelProto()
        model.CopyFrom(self._model)
        model.graph.CopyFrom(graph)
        return model


def _momentum(step: _Step, node: Message) -> dict[str, Any]:
    nesterov = bool(step.attribute(node, "use_nesterov"))
    return {
        "optimizer": Optimizer.NESTEROV if nesterov else Optimizer.MOMENTUM,
        "learning_rate": step.number(step.operand(node, 2)),
        "momentum": step.number(step.operand(node, 4)),
        **step.given(node, 3),
    }


def _sgd(step: _Step, node: Message) -> dict[str, Any]:
    momentum = step.number(step.operand(node, 4))
    kind = Optimizer.NESTEROV if step.attribute(node, "nesterov") else Optimizer.MOMENTUM
    own = step.attribute(node, "weight_decay") or 0.0
    own = float(own) if isinstance(own, int | float) and math.isfinite(own) else None
    given = step.given(node, 1)
    decay = given["weight_decay"]
    return {
        "optimizer": Optimizer.SGD if momentum == 0 else kind,
        "learning_rate": step.number(step.operand(node, 2)),
        "momentum": momentum,
        "weight_decay": None if decay is None or own is None else own + decay,
        "gradient_scale": given["gradient_scale"],
    }


def _adam(step: _Step, node: Message) -> dict[str, Any]:
    return {
        "optimizer": Optimizer.ADAM,
        "learning_rate": step.number(step.operand(node, 5)),
        "beta1": step.number(step.operand(node, 6)),
        "beta2": step.number(step.operand(node, 7)),
        "epsilon": step.number(step.operand(node, 8)),
        **step.given(node, 9),
    }


def _adam_weight_decay(step: _Step, node: Message) -> dict[str, Any]:
    return {
        "optimizer": Optimizer.ADAM_WEIGHT_DECAY,
        "learning_rate": step.number(step.operand(node, 3)),
        "beta1": step.number(step.operand(node, 4)),
        "beta2": step.number(step.operand(node, 5)),
        "epsilon": step.number(step.operand(node, 6)),
        **step.given(node, 8, decays=False),
        "weight_decay": step.number(step.operand(node, 7)),
    }


_OPTIMIZERS: dict[str, Callable[[_Step, Message], dict[str, Any]] | None] = {
    **dict.fromkeys(
        (
            "ApplyAdagrad",
            "ApplyAdagradV2",
            "ApplyAdaMax",
            "ApplyCenteredRMSProp",
            "ApplyFtrl",
            "ApplyProximalAdagrad",
            "ApplyRMSProp",
        )
    ),
    "ApplyMomentum": _momentum,
    "SGD": _sgd,
    "Adam": _adam,
    "AdamWeightDecay": _adam_weight_decay,
}
