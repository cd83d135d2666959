"""The Open Inference Protocol of examples/serving, without a server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mslite

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "serving"))

import open_inference as protocol  # noqa: E402

X = mslite.Tensor(np.zeros((2, 3), np.float32))
X.name = "x"
N = mslite.Tensor(np.zeros(2, np.int8))
N.name = "n"
VALUES = {"name": "x", "shape": [2, 3], "datatype": "FP32", "data": [[1, 2.5, 3], [4, 5, -6]]}
COUNTS = {"name": "n", "shape": [2], "datatype": "INT8", "data": [-128, 127]}


def body(**changes: Any) -> bytes:
    return json.dumps({"id": "7", "inputs": [COUNTS, VALUES], **changes}).encode()


def test_json_in_any_order_and_nesting() -> None:
    request = protocol.read_request(body(), None, [X, N])
    assert request.id == "7"
    assert np.array_equal(request.inputs[0], np.float32([[1, 2.5, 3], [4, 5, -6]]))
    assert request.inputs[0].dtype == np.float32
    assert np.array_equal(request.inputs[1], np.int8([-128, 127]))


def test_bytes_behind_the_json() -> None:
    x, n = np.arange(6, dtype=np.float32).reshape(2, 3), np.int8([3, -4])
    header = json.dumps(
        {
            "inputs": [
                {"name": "x", "shape": [2, 3], "datatype": "FP32", "parameters": {"binary_data_size": 24}},
                {"name": "n", "shape": [2], "datatype": "INT8", "parameters": {"binary_data_size": 2}},
            ],
            "outputs": [{"name": "y", "parameters": {"binary_data": True}}, {"name": "z"}],
        }
    ).encode()
    request = protocol.read_request(header + x.tobytes() + n.tobytes(), str(len(header)), [X, N])
    assert np.array_equal(request.inputs[0], x)
    assert np.array_equal(request.inputs[1], n)
    y, z, unasked = mslite.Tensor(x * 2), mslite.Tensor(n), mslite.Tensor(n)
    y.name, z.name, unasked.name = "y", "z", "unasked"
    answer, headers = protocol.write_response("net", request, [unasked, z, y])
    length = int(headers[protocol.HEADER_LENGTH])
    document = json.loads(answer[:length])
    assert document["outputs"] == [
        {"name": "y", "shape": [2, 3], "datatype": "FP32", "parameters": {"binary_data_size": 24}},
        {"name": "z", "shape": [2], "datatype": "INT8", "data": [3, -4]},
    ]
    assert answer[length:] == (x * 2).tobytes()
    with pytest.raises(protocol.BadRequest, match=r"not 'y'"):
        protocol.write_response("net", request, [z])


@pytest.mark.parametrize(
    ("content", "length", "reason"),
    [
        (b"{", None, "no JSON"),
        (b"[" * 100_000, None, "no JSON"),
        (b"[]", None, "must be an object"),
        (body(), "999999", "no length within"),
        (body(), "-1", "no length within"),
        (body(inputs=[VALUES]), None, "the request ['x']"),
        (body(inputs=[VALUES, VALUES]), None, "twice"),
        (body(inputs=[COUNTS, {**VALUES, "shape": [2, -3]}]), None, "list of sizes"),
        (body(inputs=[COUNTS, {**VALUES, "shape": [1 << 40, 1 << 40]}]), None, "too large"),
        (body(inputs=[COUNTS, {**VALUES, "shape": [2, 4]}]), None, "as many numbers"),
        (body(inputs=[COUNTS, {**VALUES, "data": [[1], [2, 3, 4, 5, 6]]}]), None, "data of input 'x'"),
        (body(inputs=[COUNTS, {**VALUES, "data": ["a"] * 6}]), None, "as many numbers"),
        (body(inputs=[COUNTS, {**VALUES, "datatype": "BYTES"}]), None, "datatype of input 'x' is 'BYTES'"),
        (body(inputs=[COUNTS, {**VALUES, "datatype": "FP64"}]), None, "is FP32, the request has FP64"),
        (body(inputs=[{**COUNTS, "data": [1, 300]}, VALUES]), None, "numbers beyond INT8"),
        (body(inputs=[{**COUNTS, "data": [1, 2.5]}, VALUES]), None, "real numbers where INT8"),
        (body(inputs=[COUNTS, {**VALUES, "parameters": {"binary_data_size": 24}}]), None, "bytes of 0 that are left"),
        (body(inputs=[COUNTS, {**VALUES, "parameters": []}]), None, "parameters of input 'x' must be an object"),
        (body(id=7), None, "id must be str"),
        (body(outputs={}), None, "outputs must be a list"),
        (body() + b"xx", str(len(body())), "2 bytes behind"),
    ],
)
def test_what_is_not_of_the_protocol_is_refused(content: bytes, length: str | None, reason: str) -> None:
    with pytest.raises(protocol.BadRequest) as refused:
        protocol.read_request(content, length, [X, N])
    assert reason in str(refused.value)


def test_every_numeric_type_has_a_name() -> None:
    unnamed = {"UNKNOWN", "INVALID", "BFLOAT16", "COMPLEX64", "COMPLEX128", "STRING"}
    assert {kind.name for kind in mslite.DataType} - {kind.name for kind in protocol.DATATYPES} <= unnamed
