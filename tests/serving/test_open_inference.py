"""The Open Inference Protocol of examples/serving, without a server."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mslite
from tests.api.models import X as ROWS
from tests.api.models import dense_file, wanted

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
        (b"{", None, "not valid JSON"),
        (b"[" * 100_000, None, "not valid JSON"),
        (b"[]", None, "must be an object"),
        (body(), "999999", "is not a valid length"),
        (body(), "-1", "is not a valid length"),
        (body(inputs=[VALUES]), None, "the request ['x']"),
        (body(inputs=[VALUES, VALUES]), None, "twice"),
        (body(inputs=[COUNTS, {**VALUES, "shape": [2, -3]}]), None, "list of sizes"),
        (body(inputs=[COUNTS, {**VALUES, "shape": [1 << 40, 1 << 40]}]), None, "too large"),
        (body(inputs=[COUNTS, {**VALUES, "shape": [2, 4]}]), None, "number of values does not match the shape"),
        (body(inputs=[COUNTS, {**VALUES, "data": [[1], [2, 3, 4, 5, 6]]}]), None, "data of input 'x'"),
        (body(inputs=[COUNTS, {**VALUES, "data": ["a"] * 6}]), None, "number of values does not match the shape"),
        (body(inputs=[COUNTS, {**VALUES, "datatype": "BYTES"}]), None, "datatype of input 'x' is 'BYTES'"),
        (body(inputs=[COUNTS, {**VALUES, "datatype": "FP64"}]), None, "is FP32, the request has FP64"),
        (body(inputs=[{**COUNTS, "data": [1, 300]}, VALUES]), None, "a value is outside the range of INT8"),
        (body(inputs=[{**COUNTS, "data": [1, 2.5]}, VALUES]), None, "the values are floats, not INT8"),
        (body(inputs=[COUNTS, {**VALUES, "parameters": {"binary_data_size": 24}}]), None, "bytes of the remaining 0"),
        (body(inputs=[COUNTS, {**VALUES, "parameters": []}]), None, "parameters of input 'x' must be an object"),
        (body(id=7), None, "id must be str"),
        (body(outputs={}), None, "outputs must be a list"),
        (body() + b"xx", str(len(body())), "2 bytes after"),
        (body(), "9" * 5000, "is not a valid length"),
        (body(inputs=[COUNTS, {**VALUES, "datatype": ["FP32"]}]), None, "datatype of input 'x'"),
        (body(inputs=[COUNTS, {**VALUES, "shape": [0, 1 << 70], "data": []}]), None, "too large"),
        (
            body(inputs=[COUNTS, {**VALUES, "shape": [0, 1 << 70], "parameters": {"binary_data_size": 0}}]),
            None,
            "too large",
        ),
        (body(inputs=[COUNTS, {**VALUES, "data": [1e300] * 6}]), None, "a value is outside the range of FP32"),
        (body(outputs=[{"name": "y"}, {"name": "y"}]), None, "output 'y' twice"),
        (body(outputs=[{"name": "y", "parameters": {"binary_data": "no"}}]), None, "must be true or false"),
        (body(parameters={"binary_data_output": 1}), None, "must be true or false"),
    ],
)
def test_what_is_not_of_the_protocol_is_refused(content: bytes, length: str | None, reason: str) -> None:
    with pytest.raises(protocol.BadRequest) as refused:
        protocol.read_request(content, length, [X, N])
    assert reason in str(refused.value)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> mslite.ModelParallelRunner:
    built = mslite.ModelParallelRunner()
    built.build_from_file(dense_file(tmp_path_factory.mktemp("serving") / "dense.ms"))
    return built


def answered(runner: mslite.ModelParallelRunner, content: bytes, length: str | None = None) -> int:
    """The status that the server gives this body; its answer must be JSON that can be sent."""
    try:
        answer, headers = asyncio.run(protocol.infer("dense", runner, content, length))
    except protocol.BadRequest as error:
        json.loads(protocol.describe_error(str(error)).decode("ascii"))
        return 400
    assert json.loads(answer[: int(headers.get(protocol.HEADER_LENGTH, len(answer)))])["outputs"]
    return 200


def request_of(rows: np.ndarray[Any, Any], **changes: Any) -> dict[str, Any]:
    tensor = {"name": "x", "shape": list(rows.shape), "datatype": "FP32", "data": rows.tolist(), "parameters": {}}
    return {"id": "a", "inputs": [tensor], "outputs": [{"name": "y", "parameters": {"binary_data": False}}], **changes}


HOSTILE: list[Any] = [
    *(None, True, False, -1, 0, 1, 7, 1 << 31, 1 << 63, 1 << 64, -(1 << 63), 10**400, 1.5, 1e300, float("nan"), float("inf")),
    *("", "x", "FP32", "FP16", "BOOL", "BYTES", "\ud800", "\0", "a" * 5000),
    *([], [[]], [None], [1, [2]], [[1], [2, 3]], [1 << 70], [0, 1 << 70], [0, 1 << 39], [1] * 40, ["a"], [{}]),
    *({}, {"binary_data_size": -1}, {"binary_data_size": 1 << 70}, {"binary_data_size": [1]}, {"binary_data": 2}),
]  # fmt: skip


def hostile(value: Any) -> Iterator[Any]:
    """The value with each of its places replaced, removed or doubled."""
    yield from HOSTILE
    if isinstance(value, dict):
        for key, item in value.items():
            yield {name: kept for name, kept in value.items() if name != key}
            for changed in hostile(item):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield value[:index] + value[index + 1 :]
            yield [*value[: index + 1], *value[index:]]
            for changed in hostile(item):
                yield [*value[:index], changed, *value[index + 1 :]]


def test_a_wrong_body_is_the_fault_of_who_sent_it(runner: mslite.ModelParallelRunner) -> None:
    refused = [answered(runner, json.dumps(changed).encode()) for changed in hostile(request_of(ROWS))]
    assert refused.count(400) > 400
    assert answered(runner, json.dumps(request_of(ROWS)).encode()) == 200


@pytest.mark.parametrize("datatype", ["FP32", "FP16", "BOOL", "INT64"])
def test_bodies_of_bytes_that_are_cut_or_changed(runner: mslite.ModelParallelRunner, datatype: str) -> None:
    tensor = {"name": "x", "shape": [2, 3], "datatype": datatype, "parameters": {"binary_data_size": ROWS.nbytes}}
    header = json.dumps({"inputs": [tensor]}).encode()
    whole = header + ROWS.tobytes()
    assert answered(runner, whole, str(len(header))) == (200 if datatype == "FP32" else 400)
    for length in range(len(whole)):
        assert answered(runner, whole[:length], str(len(header))) == 400
        assert answered(runner, whole, str(length)) == (200 if datatype == "FP32" and length == len(header) else 400)
    for length in ("", "1.5", "-1", "\u0661", " 5", "0x10", "1" * 5000):
        assert answered(runner, whole, length) == 400


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[" * 100_000, b'"' + b"a" * 1000, b"9" * 5000, b"NaN", b"\0" * 9]
)
def test_bodies_that_are_no_json(runner: mslite.ModelParallelRunner, content: bytes) -> None:
    assert answered(runner, content) == 400


def test_lists_that_are_nested_too_deep(runner: mslite.ModelParallelRunner) -> None:
    for depth in (30, 70, 500):
        text = json.dumps(request_of(ROWS)).replace(json.dumps(ROWS.tolist()), "[" * depth + "1" + "]" * depth)
        assert answered(runner, text.encode()) == 400


def test_no_rows_are_an_empty_list(runner: mslite.ModelParallelRunner) -> None:
    assert (
        protocol.read_request(body(inputs=[{**COUNTS, "shape": [0], "data": []}]), None, [N]).inputs[0].dtype == np.int8
    )


def test_bytes_that_are_neither_true_nor_false() -> None:
    flags = mslite.Tensor(np.zeros(2, np.bool_))
    flags.name = "f"
    tensor = {"name": "f", "shape": [2], "datatype": "BOOL", "parameters": {"binary_data_size": 2}}
    header = json.dumps({"inputs": [tensor]}).encode()
    assert protocol.read_request(header + b"\0\1", str(len(header)), [flags]).inputs[0].tolist() == [False, True]
    with pytest.raises(protocol.BadRequest, match="0 or 1"):
        protocol.read_request(header + b"\0\2", str(len(header)), [flags])


def test_the_answer_of_a_runner(runner: mslite.ModelParallelRunner) -> None:
    answer, _ = asyncio.run(protocol.infer("dense", runner, json.dumps(request_of(ROWS)).encode(), None))
    (output,) = json.loads(answer)["outputs"]
    np.testing.assert_allclose(np.float32(output["data"]).reshape(output["shape"]), wanted(ROWS), rtol=1e-5)


def test_every_numeric_type_has_a_name() -> None:
    unnamed = {"UNKNOWN", "INVALID", "BFLOAT16", "COMPLEX64", "COMPLEX128", "STRING"}
    assert {kind.name for kind in mslite.DataType} - {kind.name for kind in protocol.DATATYPES} <= unnamed
