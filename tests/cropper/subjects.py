"""Models that the tests crop the runtime for, and programs that run them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np

from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Encoding, Graph, Module, Node, Value, constant, numpy_type
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, QuantType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.ops.unary import Cos
from tests.models.packing import bit_packed

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("MSLITE_BUILD", "build")
ARCHIVE = BUILD / "lite_runtime" / "libmindspore-lite.a"
HERE = Path(__file__).parent


def product(path: Path) -> Path:
    """tanh(x @ weight) for x of [rows, 24]."""
    weight = np.random.default_rng(3).standard_normal((24, 40)).astype(np.float32)
    x = Value("x", DataType.FLOAT32, (SYMBOL_LIMIT, 24))
    y = Value("y", DataType.FLOAT32, (SYMBOL_LIMIT, 40))
    z = Value("z", DataType.FLOAT32, (SYMBOL_LIMIT, 40))
    nodes = [
        Node(MatMulFusion(), "product", (x, constant("weight", weight)), (y,)),
        Node(Activation(activation_type=ActivationType.TANH), "tanh", (y,), (z,)),
    ]
    module_io.save(Module([Graph("main", [x], [z], nodes)]), path)
    return path


def convolution(path: Path, kernel: int, stride: int, group: int) -> Path:
    """Sixteen channels, windows of kernel x kernel without padding, for images of any size."""
    weight = np.random.default_rng(4).standard_normal((16, kernel, kernel, 16 // group)).astype(np.float32)
    x = Value("x", DataType.FLOAT32, (SYMBOL_LIMIT, SYMBOL_LIMIT - 1, SYMBOL_LIMIT - 2, 16), format=Format.NHWC)
    y = Value("y", DataType.FLOAT32, format=Format.NHWC)
    operator = Conv2DFusion(
        format=Format.NHWC, kernel_size=(kernel, kernel), stride=(stride, stride), dilation=(1, 1), pad_list=(0, 0, 0, 0),
        group=group, in_channel=16, out_channel=16,
    )  # fmt: skip
    module_io.save(
        Module([Graph("main", [x], [y], [Node(operator, "conv", (x, constant("weight", weight)), (y,))])]), path
    )
    return path


def cosine(path: Path, dtype: DataType = DataType.FLOAT32) -> Path:
    """cos(x) for x of [4, 24]."""
    x, y = Value("x", dtype, (4, 24)), Value("y", dtype, (4, 24))
    module_io.save(Module([Graph("main", [x], [y], [Node(Cos(), "waves", (x,), (y,))])]), path)
    return path


def squashed(path: Path, dtype: DataType, quant: tuple[QuantParam, ...] = ()) -> Path:
    """relu(x) for x of [4, 24], in another data type or quantized."""
    x, y = Value("x", dtype, (4, 24), quant=quant), Value("y", dtype, (4, 24), quant=quant)
    kind = QuantType.QUANT_ALL if quant else QuantType.QUANT_NONE
    node = Node(Activation(activation_type=ActivationType.RELU), "squash", (x,), (y,), quant_type=kind)
    module_io.save(Module([Graph("main", [x], [y], [node])]), path)
    return path


def stored_product(
    path: Path, weight: Value, kind: QuantType = QuantType.QUANT_NONE, result: DataType = DataType.FLOAT32
) -> Path:
    """x @ weight for x of [4, 24], with the weight stored in a packed form or another data type."""
    x, y = Value("x", DataType.FLOAT32, (4, 24)), Value("y", result, (4, 40))
    node = Node(MatMulFusion(), "product", (x, weight), (y,), quant_type=kind)
    module_io.save(Module([Graph("main", [x], [y], [node])]), path)
    return path


def stored_weight(width: int, dtype: DataType) -> Value:
    """A [24, 40] weight with integers of `width` bits, packed if the data type is wider."""
    limit = 1 << (width - 1)
    integers = np.random.default_rng(width).integers(-limit, limit, (24, 40)).astype(numpy_type(dtype))
    quant = (QuantParam(scale=0.05, zeroPoint=0, numBits=width, inited=True),)
    if width == 8 * integers.itemsize:
        return Value("weight", dtype, (24, 40), data=integers, quant=quant)
    return Value("weight", dtype, (24, 40), raw=bit_packed(integers, width), quant=quant, encoding=Encoding())


def program(archive: Path, target: Path, source: Path = HERE / "run_model.c") -> Path:
    """Compiles a C program with the static library."""
    c_file = target.with_suffix(".o")
    includes = [f"-I{ROOT}/lite_runtime", f"-I{ROOT}/lite_runtime/include"]
    subprocess.run(["cc", "-c", *includes, "-o", c_file, source], check=True)
    link = ["c++", "-o", target, c_file, archive, "-Wl,--gc-sections", "-lpthread", "-ldl"]
    subprocess.run(link, check=True)
    return target


def run(command: Path, model: Path, given: bytes, *rows: int, library: Path | None = None) -> tuple[bytes | None, str]:
    """Returns the output of the program (None if it fails) and its messages; `library` replaces its shared library."""
    source, target = model.with_suffix(".in"), model.with_suffix(".out")
    source.write_bytes(given)
    target.unlink(missing_ok=True)
    environment = {**os.environ} if library is None else {**os.environ, "LD_PRELOAD": str(library)}
    arguments = [str(command), str(model), str(source), str(target), *map(str, rows)]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return (target.read_bytes() if done.returncode == 0 else None), done.stdout + done.stderr
