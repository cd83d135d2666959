"""The model specifications that the Core ML engine writes: coremltools reads them, and PyTorch, which computes each layer
as Apple's format describes it, gives what the CPU gives.

No Apple system has compiled or run them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options
from tests.delegate.models import calls, is_close, only_trains, write
from tests.e2e.models import MODELS, convert_model, models

pytestmark = pytest.mark.frameworks
coremltools = pytest.importorskip("coremltools")
torch = pytest.importorskip("torch")

ROOT = Path(__file__).parents[3]
BUILD = Path(os.environ.get("MSLITE_BUILD", ROOT / "build"))
PROGRAM = BUILD / "tests/delegate/write_coreml"
FLOAT32 = 65568
Array = npt.NDArray[Any]


def written(model: Path, folder: Path) -> tuple[list[Any], list[tuple[int, str, str]]]:
    """The specifications of a model's parts, and for each node its part, its operator, and why it has none."""
    folder.mkdir()
    done = subprocess.run(
        [PROGRAM, model, folder], capture_output=True, text=True, check=True, env={**os.environ, "MSLITE_DELEGATE_COSTS": "off"}
    )  # fmt: skip
    nodes = [line.split("\t") for line in done.stdout.splitlines()]
    paths = sorted(folder.glob("*.mlmodel"), key=lambda path: int(path.stem[5:]))
    specifications = [coremltools.utils.load_spec(os.fspath(path)) for path in paths]
    return specifications, [(int(part), op, reason) for part, op, reason in nodes]


def weights(params: Any) -> Any:
    return torch.from_numpy(np.array(params.floatValue, np.float32))


def convolved(layer: Any, x: Any) -> Any:
    p = layer.convolution
    ((top, bottom), (left, right)) = ((b.startEdgeSize, b.endEdgeSize) for b in p.valid.paddingAmounts.borderAmounts)
    x = torch.nn.functional.pad(x, (left, right, top, bottom))
    weight = weights(p.weights).reshape(p.outputChannels, p.kernelChannels, *p.kernelSize)
    bias = weights(p.bias) if p.hasBias else None
    return torch.nn.functional.conv2d(x, weight, bias, tuple(p.stride), 0, tuple(p.dilationFactor), p.nGroups)


def pooled(layer: Any, x: Any) -> Any:
    p = layer.pooling
    ((top, bottom), (left, right)) = ((b.startEdgeSize, b.endEdgeSize) for b in p.valid.paddingAmounts.borderAmounts)
    kernel, stride, pad = tuple(p.kernelSize), tuple(p.stride), (left, right, top, bottom)
    if p.type == p.MAX:
        return torch.nn.functional.max_pool2d(torch.nn.functional.pad(x, pad, value=-torch.inf), kernel, stride)
    mean = torch.nn.functional.avg_pool2d(torch.nn.functional.pad(x, pad), kernel, stride)
    if not p.avgPoolExcludePadding:
        return mean
    return mean / torch.nn.functional.avg_pool2d(torch.nn.functional.pad(torch.ones_like(x), pad), kernel, stride)


def activated(layer: Any, x: Any) -> Any:
    kind = layer.activation.WhichOneof("NonlinearityType")
    p = getattr(layer.activation, kind)
    functions: dict[str, Callable[[], Any]] = {
        "linear": lambda: p.alpha * x + p.beta,
        "ReLU": lambda: torch.relu(x),
        "leakyReLU": lambda: torch.nn.functional.leaky_relu(x, p.alpha),
        "tanh": lambda: torch.tanh(x),
        "sigmoid": lambda: torch.sigmoid(x),
        "sigmoidHard": lambda: torch.clamp(p.alpha * x + p.beta, 0, 1),
        "ELU": lambda: torch.nn.functional.elu(x, p.alpha),
        "softsign": lambda: torch.nn.functional.softsign(x),
        "softplus": lambda: torch.nn.functional.softplus(x),
    }
    return functions[kind]()


def unary(layer: Any, x: Any) -> Any:
    p = layer.unary
    functions = {p.SQRT: torch.sqrt, p.RSQRT: torch.rsqrt, p.INVERSE: torch.reciprocal, p.EXP: torch.exp, p.LOG: torch.log, p.ABS: torch.abs}  # fmt: skip
    assert (p.scale, p.shift, p.epsilon) == (1, 0, 0)
    return functions[p.type](x)


def product(layer: Any, a: Any, b: Any) -> Any:
    p = layer.batchedMatmul
    return (a.transpose(-1, -2) if p.transposeA else a) @ (b.transpose(-1, -2) if p.transposeB else b)


def sliced(layer: Any, x: Any) -> Any:
    p = layer.sliceStatic
    assert not any([*p.beginMasks, *p.endMasks, *p.squeezeMasks])
    return x[tuple(slice(*place) for place in zip(p.beginIds, p.endIds, p.strides, strict=True))]


def padded(layer: Any, x: Any) -> Any:
    p = layer.constantPad
    pairs = list(zip(p.padAmounts[::2], p.padAmounts[1::2], strict=True))
    return torch.nn.functional.pad(x, [amount for pair in reversed(pairs) for amount in pair], value=p.value)


LAYERS: dict[str, Callable[..., Any]] = {
    "convolution": convolved,
    "pooling": pooled,
    "activation": activated,
    "unary": unary,
    "batchedMatmul": product,
    "sliceStatic": sliced,
    "constantPad": padded,
    "copy": lambda _, x: x.clone(),
    "clip": lambda layer, x: torch.clamp(x, layer.clip.minVal, layer.clip.maxVal),
    "ceil": lambda _, x: torch.ceil(x),
    "floor": lambda _, x: torch.floor(x),
    "sin": lambda _, x: torch.sin(x),
    "cos": lambda _, x: torch.cos(x),
    "erf": lambda _, x: torch.erf(x),
    "gelu": lambda layer, x: torch.nn.functional.gelu(x, approximate="tanh" if layer.gelu.mode == 1 else "none"),
    "minBroadcastable": lambda _, a, b: torch.minimum(a, b),
    "maxBroadcastable": lambda _, a, b: torch.maximum(a, b),
    "addBroadcastable": lambda _, a, b: a + b,
    "powBroadcastable": lambda _, a, b: torch.pow(a, b),
    "divideBroadcastable": lambda _, a, b: a / b,
    "multiplyBroadcastable": lambda _, a, b: a * b,
    "subtractBroadcastable": lambda _, a, b: a - b,
    "softmaxND": lambda layer, x: torch.softmax(x, layer.softmaxND.axis),
    "splitND": lambda layer, x: torch.split(x, list(layer.splitND.splitSizes), layer.splitND.axis),
    "concatND": lambda layer, *x: torch.cat(x, layer.concatND.axis),
    "transpose": lambda layer, x: x.permute(*layer.transpose.axes),
    "loadConstantND": lambda layer: weights(layer.loadConstantND.data).reshape(*layer.loadConstantND.shape),
    "reshapeStatic": lambda layer, x: x.reshape(*layer.reshapeStatic.targetShape),
    "reduceMean": lambda layer, x: x.mean(list(layer.reduceMean.axes), keepdim=layer.reduceMean.keepDims),
    "reduceSum": lambda layer, x: x.sum(list(layer.reduceSum.axes), keepdim=layer.reduceSum.keepDims),
    "reduceMax": lambda layer, x: x.amax(list(layer.reduceMax.axes), keepdim=layer.reduceMax.keepDims),
    "reduceMin": lambda layer, x: x.amin(list(layer.reduceMin.axes), keepdim=layer.reduceMin.keepDims),
    "layerNormalization": lambda layer, x: torch.nn.functional.layer_norm(
        x,
        tuple(layer.layerNormalization.normalizedShape),
        weights(layer.layerNormalization.gamma).reshape(*layer.layerNormalization.normalizedShape),
        weights(layer.layerNormalization.beta).reshape(*layer.layerNormalization.normalizedShape),
        layer.layerNormalization.eps,
    ),
}


def evaluated(specification: Any, inputs: dict[str, Array]) -> dict[str, Array]:
    """What the layers give, in their order. A layer that asks for a value that is not there yet fails."""
    values = {name: torch.from_numpy(array) for name, array in inputs.items()}
    for layer in specification.neuralNetwork.layers:
        results = LAYERS[layer.WhichOneof("layer")](layer, *(values[name] for name in layer.input))
        for name, result in zip(layer.output, results if isinstance(results, tuple) else (results,), strict=True):
            assert name not in values, f"{name} is given twice"
            values[name] = result
    return {feature.name: values[feature.name].numpy() for feature in specification.description.output}


def check(model: Path, folder: Path, shapes: list[tuple[int, ...]]) -> list[tuple[int, str, str]]:
    """A model that is one part as a whole gives what it gives on the CPU."""
    specifications, nodes = written(model, folder)
    assert [part for part, _, _ in nodes] == [0] * len(nodes), nodes
    (specification,) = specifications
    assert specification.specificationVersion == 4
    assert specification.neuralNetwork.arrayInputShapeMapping == 1, "shapes are taken as they are"
    for feature in (*specification.description.input, *specification.description.output):
        assert feature.type.multiArrayType.dataType == FLOAT32
    assert [tuple(f.type.multiArrayType.shape) for f in specification.description.input] == shapes
    coremltools.models.MLModel(specification, skip_model_load=True)  # its own checks of the description
    on_cpu = mslite.Model()
    on_cpu.build_from_file(model, mslite.ModelType.MINDIR_LITE)
    rng = np.random.default_rng(3)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    wanted = [tensor.get_data_to_numpy() for tensor in on_cpu.predict(inputs)]
    got = evaluated(specification, {f.name: x for f, x in zip(specification.description.input, inputs, strict=True)})
    for number, right in enumerate(wanted):
        mine = got[f"output_{number}"]
        assert tuple(specification.description.output[number].type.multiArrayType.shape) == mine.shape
        np.testing.assert_allclose(mine, right, rtol=1e-4, atol=1e-4 * float(np.abs(right).max()))
    return nodes


def test_the_digits(tmp_path: Path) -> None:
    options = Options(ROOT / "examples/digits/digits.onnx", tmp_path / "digits", input_shapes={"image": (1, 1, 8, 8)})
    path = convert(options).files[0]
    model = mslite.Model()
    model.build_from_file(path, mslite.ModelType.MINDIR_LITE)
    nodes = check(path, tmp_path / "parts", [tuple(model.get_inputs()[0].shape)])
    assert len(nodes) > 4


@pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models are not here")
@pytest.mark.parametrize(
    "name",
    ["torch_cnn/squeezenet1_1_op11", "torch_cnn/mobilenet_v3_small_w05_op17", "torch_cnn/resnet18_w16_op11"],
)
def test_a_network(name: str, tmp_path: Path) -> None:
    (entry,) = (entry for entry in models() if entry.path == name)
    path = convert_model(entry, tmp_path)
    model = mslite.Model()
    model.build_from_file(path, mslite.ModelType.MINDIR_LITE)
    check(path, tmp_path / "parts", [tuple(tensor.shape) for tensor in model.get_inputs()])


@pytest.mark.nonconforming("one node, with operands that other versions may not take as constants")
def test_every_operator(tmp_path: Path) -> None:
    """Single operators: the layers of what the engine takes give what the operators' references do."""
    taken: set[str] = set()
    problems = []
    for number, call in enumerate(call for call in calls() if not only_trains(call.case)):
        path, inputs = write(call, tmp_path)
        specifications, ((part, op, reason),) = written(path, tmp_path / str(number))
        if part < 0:
            assert reason
            continue
        taken.add(op)
        # Written when shapes are known; what stays open is not taken.
        features = specifications[0].description.input
        got = evaluated(specifications[0], {f.name: _shaped(inputs[int(f.name[6:])]) for f in features})
        for place, wanted in enumerate(call.wanted):
            mine = got[f"output_{place}"].reshape(wanted.shape)
            if not is_close(mine, wanted, max(call.case.tolerance, 1e-5)):
                problems.append(f"{call.case.name}: {mine.reshape(-1)[:4]} and not {wanted.reshape(-1)[:4]}")
    assert not problems, "\n".join(problems)
    assert len(taken) > 30, sorted(taken)


def _shaped(array: Array) -> Array:
    """Core ML has no arrays without dimensions."""
    return array.reshape(1) if array.ndim == 0 else array
