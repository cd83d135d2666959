"""Makes the small `.ms` models of this folder: `python -m tests.models.make_models`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Encoding, Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, PadMode, QuantType
from mslite.converter.mindir.ops.enums import WeightQuantCompressType as Compression
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.quantization import DynamicQuant, QuantDTypeCast
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.tables import QuantParam
from tests.models.packing import bit_packed, entropy_coded, huffman, indexed, sparse

FOLDER = Path(__file__).parent


def _node(op: Operator, name: str, inputs: list[Value], output: Value, kind: QuantType = QuantType.QUANT_ALL) -> Node:
    return Node(op, name, tuple(inputs), (output,), quant_type=kind)


def _int8(name: str, shape: tuple[int, ...], scale: float, zero: int = 0) -> Value:
    return Value(name, DataType.INT8, shape, quant=(QuantParam(scale=scale, zeroPoint=zero),))


def quantized() -> Module:
    """Casts, a per-channel quantized convolution, a concatenation of different scales, a matmul; then a dynamically quantized matmul."""
    draw = np.random.default_rng(1)
    weight = constant("w", draw.integers(-127, 128, (4, 3, 3, 2)).astype(np.int8), Format.NHWC)
    weight.quant = tuple(QuantParam(scale=0.01 * (k + 1)) for k in range(4))
    bias = constant("b", draw.integers(-500, 500, 4).astype(np.int32))
    bias.quant = tuple(QuantParam(scale=0.0002 * (k + 1), numBits=32) for k in range(4))
    dense = constant("d", draw.integers(-127, 128, (5, 200)).astype(np.int8))
    dense.quant = (QuantParam(scale=0.01),)
    last = constant("l", draw.integers(-127, 128, (5, 3)).astype(np.int8))
    last.quant = (QuantParam(scale=0.02),)
    x, real = Value("x", DataType.FLOAT32, (1, 5, 5, 2)), Value("real", DataType.FLOAT32, (1, 5))
    q, conv, relu = (
        _int8("q", (1, 5, 5, 2), 0.02, 3),
        _int8("conv", (1, 5, 5, 4), 0.1),
        _int8("relu", (1, 5, 5, 4), 0.05),
    )
    both, flat, scores = _int8("both", (1, 5, 5, 8), 0.1), _int8("flat", (1, 200), 0.1), _int8("scores", (1, 5), 0.5)
    dynamic, y = Value("dynamic", DataType.INT8, (1, 5)), Value("y", DataType.FLOAT32, (1, 3))
    convolution = Conv2DFusion(
        format=Format.NHWC, kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.SAME, group=1,
        in_channel=2, out_channel=4,
    )  # fmt: skip
    number = (int(DataType.FLOAT32), int(DataType.INT8))
    nodes = [
        _node(QuantDTypeCast(src_t=number[0], dst_t=number[1]), "quantize", [x], q, QuantType.QUANT_NONE),
        _node(convolution, "convolution", [q, weight, bias], conv),
        _node(Activation(activation_type=ActivationType.RELU), "rectify", [conv], relu),
        _node(Concat(axis=3), "concat", [conv, relu], both),
        _node(Reshape(), "flatten", [both, constant("shape", np.array([1, 200], np.int32))], flat),
        _node(FullConnection(has_bias=False), "dense", [flat, dense], scores),
        _node(QuantDTypeCast(src_t=number[1], dst_t=number[0]), "dequantize", [scores], real, QuantType.QUANT_NONE),
        _node(DynamicQuant(), "dynamic_quant", [real], dynamic, QuantType.QUANT_NONE),
        _node(MatMulFusion(), "product", [dynamic, last], y, QuantType.QUANT_DYNAMIC),
    ]
    return Module([Graph("main", [x], [y], nodes)])


def packed() -> Module:
    """The sum of constants in every packed form."""
    draw = np.random.default_rng(2)
    q = draw.integers(-8, 8, (6, 10)).astype(np.int8)
    floats = draw.integers(0, 5, (6, 10)).astype(np.float32)
    int8, float32 = DataType.INT8, DataType.FLOAT32
    forms = [
        (bit_packed(q, 4), int8, 4, Encoding(Compression.BITPACKING)),
        (indexed(q, 4), int8, 4, Encoding(Compression.INDEXING)),
        (sparse(q, 4, (0,)), int8, 4, Encoding(Compression.SPARSE)),
        (huffman(q), int8, 8, Encoding(huffman=True)),
        (entropy_coded(floats, "f"), float32, 8, Encoding(Compression.FSE)),
        (entropy_coded(q, "i"), int8, 8, Encoding(Compression.FSE_INT)),
        (entropy_coded(floats, "f", with_entry_points=True), float32, 8, Encoding(Compression.FSE_INFER)),
        (q.tobytes(), int8, 8, Encoding(clusters=tuple(range(-128, 128)))),
    ]
    x = total = Value("x", DataType.FLOAT32, (6, 10))
    nodes = []
    for number, (data, dtype, bits, encoding) in enumerate(forms):
        records = () if encoding.clusters else (QuantParam(scale=0.5, numBits=bits),)
        weight = Value(f"w{number}", dtype, (6, 10), raw=data, quant=records, encoding=encoding)
        result = Value(f"y{number}", DataType.FLOAT32, (6, 10))
        nodes.append(_node(AddFusion(), f"add{number}", [total, weight], result, QuantType.QUANT_WEIGHT))
        total = result
    return Module([Graph("main", [x], [total], nodes)])


if __name__ == "__main__":
    for name, module in (("quantized", quantized()), ("packed", packed())):
        path = FOLDER / f"{name}.ms"
        path.unlink(missing_ok=True)
        module_io.save(module, path)
        path.chmod(0o644)
