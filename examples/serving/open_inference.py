"""Requests and responses of KServe's Open Inference Protocol, version 2, over HTTP: JSON, followed by binary tensors.

https://github.com/kserve/open-inference-protocol names the fields; binary tensors are its extension `binary_tensor_data`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import mslite

Array = np.ndarray[Any, np.dtype[Any]]
Object = dict[str, Any]
Described = mslite.Tensor | mslite.TensorMeta

DATATYPES = {
    mslite.DataType.BOOL: "BOOL",
    mslite.DataType.UINT8: "UINT8",
    mslite.DataType.UINT16: "UINT16",
    mslite.DataType.UINT32: "UINT32",
    mslite.DataType.UINT64: "UINT64",
    mslite.DataType.INT8: "INT8",
    mslite.DataType.INT16: "INT16",
    mslite.DataType.INT32: "INT32",
    mslite.DataType.INT64: "INT64",
    mslite.DataType.FLOAT16: "FP16",
    mslite.DataType.FLOAT32: "FP32",
    mslite.DataType.FLOAT64: "FP64",
}
_NUMPY = {
    name: np.dtype("bool" if name == "BOOL" else name.lower().replace("fp", "float")) for name in DATATYPES.values()
}
HEADER_LENGTH = "Inference-Header-Content-Length"
_LARGEST = 1 << 40
_MAX_DIGITS = 18


class BadRequest(ValueError):
    """An invalid request, or a request that does not match the model."""


@dataclass
class InferenceRequest:
    inputs: list[Array]
    id: str | None = None
    outputs: list[tuple[str, bool]] = field(default_factory=list)
    """Names of the requested outputs, and whether they are binary; empty: all outputs."""
    all_binary: bool = False


def _expect(value: object, kind: type, what: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadRequest(
            f"{what} must be {'an object' if kind is dict else 'a list' if kind is list else kind.__name__}"
        )
    return value


def _expect_truth(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise BadRequest(f"{what} must be true or false")
    return value


def _split(body: bytes, header_length: str | None) -> tuple[Object, memoryview]:
    """Returns the JSON of a body and the binary data after it."""
    length = len(body)
    if header_length is not None:
        is_number = header_length.isascii() and header_length.isdigit() and len(header_length) <= _MAX_DIGITS
        if not is_number or int(header_length) > len(body):
            raise BadRequest(
                f"{HEADER_LENGTH}: {header_length[:40]} is not a valid length for a body of {len(body)} bytes"
            )
        length = int(header_length)
    try:
        document = json.loads(body[:length])
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise BadRequest(f"the body is not valid JSON: {error}") from None
    return _expect(document, dict, "the body"), memoryview(body)[length:]


def _parameters(value: Mapping[str, object], what: str) -> Object:
    parameters: Object = _expect(value.get("parameters", {}), dict, f"parameters of {what}")
    return parameters


def _shape(tensor: Object, what: str) -> list[int]:
    shape: list[int] = _expect(tensor.get("shape"), list, f"shape of {what}")
    if any(not isinstance(size, int) or isinstance(size, bool) or size < 0 for size in shape) or len(shape) > 32:
        raise BadRequest(f"shape of {what} must be a list of sizes, at most 32")
    if max(shape, default=0) > _LARGEST or math.prod(shape) > _LARGEST:
        raise BadRequest(f"{what} is too large")
    return shape


def _array(tensor: Object, what: str, rest: memoryview) -> tuple[Array, memoryview]:
    """Returns the values of an input, and the remaining binary data."""
    shape = _shape(tensor, what)
    datatype = tensor.get("datatype")
    if not isinstance(datatype, str) or datatype not in _NUMPY:
        raise BadRequest(f"datatype of {what} is {str(datatype)[:40]!r}; supported: {', '.join(_NUMPY)}")
    dtype, count = _NUMPY[datatype], math.prod(shape)
    size = _parameters(tensor, what).get("binary_data_size")
    if size is not None:
        if _expect(size, int, f"binary_data_size of {what}") != count * dtype.itemsize or size > len(rest):
            raise BadRequest(
                f"{what} has {str(size)[:40]} bytes of the remaining {len(rest)}, but its shape needs {count * dtype.itemsize}"
            )
        if datatype == "BOOL" and np.any(np.frombuffer(rest[:size], np.uint8) > 1):
            raise BadRequest(f"{what}: bytes of BOOL must be 0 or 1")
        return np.frombuffer(rest[:size], dtype).reshape(shape), rest[size:]
    if datatype == "FP16":
        raise BadRequest(f"{what}: FP16 must be sent as binary data (binary_data_size), not as JSON")
    data = _expect(tensor.get("data"), list, f"data of {what}")
    try:
        return _numbers(data, datatype, count).reshape(shape), rest
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise BadRequest(f"data of {what}: {error}") from None


def _numbers(data: list[Any], datatype: str, count: int) -> Array:
    """Converts JSON lists with `count` values to an array. Raises ValueError for values that do not match the type."""
    dtype, array = _NUMPY[datatype], np.asarray(data)
    if array.size != count or (count and array.dtype.kind not in "biuf"):
        raise ValueError("the number of values does not match the shape")
    if not count:
        return array.astype(dtype)
    if array.dtype.kind == "f" and dtype.kind in "iub":
        raise ValueError(f"the values are floats, not {datatype}")
    limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind in "iu" else None
    if limits is not None and (array.min() < limits[0] or array.max() > limits[1]):
        raise ValueError(f"a value is outside the range of {datatype}")
    with np.errstate(over="ignore"):
        numbers = array.astype(dtype)
    if dtype.kind == "f" and np.any(np.isinf(numbers) & np.isfinite(array)):
        raise ValueError(f"a value is outside the range of {datatype}")
    return numbers


def read_request(body: bytes, header_length: str | None, metas: Sequence[Described]) -> InferenceRequest:
    """Reads a request for a model with these inputs. Raises BadRequest."""
    document, rest = _split(body, header_length)
    identifier = document.get("id")
    if identifier is not None:
        _expect(identifier, str, "id")
    tensors: dict[str, Object] = {}
    arrays: dict[str, Array] = {}
    for tensor in _expect(document.get("inputs"), list, "inputs"):
        name = _expect(_expect(tensor, dict, "an input").get("name"), str, "the name of an input")
        if name in tensors:
            raise BadRequest(f"the request contains input '{name}' twice")
        tensors[name] = tensor
        arrays[name], rest = _array(tensor, f"input '{name}'", rest)
    if len(rest) > 0:
        raise BadRequest(f"{len(rest)} bytes after the last input")
    wanted = {meta.name: DATATYPES.get(meta.dtype, meta.dtype.name) for meta in metas}
    if set(tensors) != set(wanted):
        raise BadRequest(f"the model has the inputs {sorted(wanted)}, the request {sorted(tensors)}")
    for name, datatype in wanted.items():
        if tensors[name]["datatype"] != datatype:
            raise BadRequest(f"input '{name}' is {datatype}, the request has {tensors[name]['datatype']}")
    outputs: dict[str, bool] = {}
    for output in _expect(document.get("outputs", []), list, "outputs"):
        name = _expect(_expect(output, dict, "an output").get("name"), str, "the name of an output")
        if name in outputs:
            raise BadRequest(f"the request contains output '{name}' twice")
        parameters = _parameters(output, f"output '{name}'")
        outputs[name] = _expect_truth(parameters.get("binary_data", False), f"binary_data of output '{name}'")
    parameters = _parameters(document, "the request")
    all_binary = _expect_truth(parameters.get("binary_data_output", False), "binary_data_output")
    return InferenceRequest([arrays[meta.name] for meta in metas], identifier, list(outputs.items()), all_binary)


def write_response(
    model: str, request: InferenceRequest, results: Sequence[mslite.Tensor]
) -> tuple[bytes, dict[str, str]]:
    """Returns the body and headers of the response. Raises BadRequest for an unknown output."""
    by_name = {tensor.name: tensor for tensor in results}
    wanted = request.outputs or [(tensor.name, False) for tensor in results]
    outputs, blocks = [], []
    for name, is_binary in wanted:
        if name not in by_name:
            raise BadRequest(f"the model has the outputs {sorted(by_name)}, not '{name}'")
        array = np.ascontiguousarray(by_name[name].get_data_to_numpy())
        datatype = DATATYPES.get(by_name[name].dtype)
        if datatype is None:
            raise BadRequest(f"output '{name}' is {by_name[name].dtype.name}, which the protocol does not support")
        output: Object = {"name": name, "shape": list(array.shape), "datatype": datatype}
        if is_binary or request.all_binary or datatype == "FP16":
            output["parameters"] = {"binary_data_size": array.nbytes}
            blocks.append(array.tobytes())
        else:
            output["data"] = array.ravel().tolist()
        outputs.append(output)
    document: Object = {"model_name": model, "outputs": outputs}
    if request.id is not None:
        document["id"] = request.id
    header = json.dumps(document).encode()
    if not blocks:
        return header, {"Content-Type": "application/json"}
    return b"".join([header, *blocks]), {
        "Content-Type": "application/octet-stream",
        HEADER_LENGTH: str(len(header)),
    }


async def infer(
    name: str, model: mslite.ModelParallelRunner, body: bytes, header_length: str | None
) -> tuple[bytes, dict[str, str]]:
    """Runs a request. Returns the body and headers of the response. Raises BadRequest, asyncio.QueueFull."""
    asked = read_request(body, header_length, model.get_inputs())
    try:
        results = await model.predict_async(asked.inputs)
    except (TypeError, ValueError, RuntimeError) as error:  # the model does not support the shapes or values
        raise BadRequest(str(error)) from None
    return write_response(name, asked, results)


def describe_error(reason: str) -> bytes:
    """Returns the body of an error response. It is ASCII, because the reason may contain any text of the request."""
    return json.dumps({"error": reason}).encode()


def describe_model(name: str, inputs: Sequence[Described], outputs: Sequence[Described]) -> Object:
    """Returns the metadata of a model."""

    def tensors(metas: Sequence[Described]) -> list[Object]:
        return [
            {"name": meta.name, "datatype": DATATYPES.get(meta.dtype, meta.dtype.name), "shape": list(meta.shape)}
            for meta in metas
        ]

    return {"name": name, "platform": "mslite", "inputs": tensors(inputs), "outputs": tensors(outputs)}


def describe_server() -> Object:
    """Returns the metadata of the server."""
    return {"name": "mslite", "version": mslite.__version__, "extensions": ["binary_tensor_data"]}
