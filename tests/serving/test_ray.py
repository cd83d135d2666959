"""examples/serving behind Ray Serve, with two replicas and an ordinary HTTP client."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mslite
from tests.api.models import X, dense_file, wanted

pytestmark = pytest.mark.frameworks
SERVING = Path(__file__).resolve().parents[2] / "examples" / "serving"
SECONDS = 180


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Client:
    def __init__(self, port: int) -> None:
        self._port = port

    def __call__(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())
        finally:
            connection.close()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    pytest.importorskip("ray", reason="needs Ray Serve")
    folder = tmp_path_factory.mktemp("serving")
    dense_file(folder / "dense.ms")
    port = free_port()
    environment = {
        **os.environ,
        # Of a slow machine.
        "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "50",
        "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "50",
        "PYTHONPATH": str(Path(mslite.__file__).parents[1]),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DISABLE_IMPORT_WARNING": "1",
    }
    command = [sys.executable, str(SERVING / "serve_models.py"), f"dense={folder / 'dense.ms'}"]
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen(
            [*command, "--port", str(port), "--replicas", "2"], env=environment, stdout=log, stderr=log
        )
        try:
            yield wait_for(Client(port), server, folder / "log.txt")
        finally:
            server.terminate()
            server.wait(60)


def wait_for(client: Client, server: subprocess.Popen[bytes], log: Path) -> Client:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            if client("GET", "/v2/models/dense/ready")[0] == 200:
                return client
        except OSError:
            pass
        time.sleep(0.5)
    raise AssertionError(f"the server did not start:\n{log.read_text()[-4000:]}")


def inference(values: np.ndarray[Any, Any]) -> bytes:
    tensor = {"name": "x", "shape": list(values.shape), "datatype": "FP32", "data": values.ravel().tolist()}
    return json.dumps({"id": "a", "inputs": [tensor]}).encode()


def test_health_and_metadata(client: Client) -> None:
    assert client("GET", "/v2/health/live")[0] == 200
    assert client("GET", "/v2/health/ready")[0] == 200
    assert json.loads(client("GET", "/v2")[1])["extensions"] == ["binary_tensor_data"]
    model = json.loads(client("GET", "/v2/models/dense")[1])
    assert model["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}]
    assert [output["name"] for output in model["outputs"]] == ["y"]


def test_json(client: Client) -> None:
    status, answer, _ = client("POST", "/v2/models/dense/infer", inference(X))
    assert status == 200
    document = json.loads(answer)
    assert document["id"] == "a"
    (output,) = document["outputs"]
    np.testing.assert_allclose(np.float32(output["data"]).reshape(output["shape"]), wanted(X), rtol=1e-5)


def test_binary_tensors(client: Client) -> None:
    tensor = {"name": "x", "shape": [2, 3], "datatype": "FP32", "parameters": {"binary_data_size": X.nbytes}}
    header = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
    status, answer, headers = client(
        "POST", "/v2/models/dense/infer", header + X.tobytes(), Inference_Header_Content_Length=str(len(header))
    )
    assert status == 200
    length = int({name.lower(): value for name, value in headers.items()}["inference-header-content-length"])
    np.testing.assert_allclose(np.frombuffer(answer[length:], np.float32).reshape(2, 4), wanted(X), rtol=1e-5)


def test_many_clients_get_their_own_answers(client: Client) -> None:
    def ask(number: int) -> bool:
        x = np.full((1 + number % 4, 3), number, np.float32)
        _, answer, _ = client("POST", "/v2/models/dense/infer", inference(x))
        (output,) = json.loads(answer)["outputs"]
        return np.allclose(np.float32(output["data"]).reshape(output["shape"]), wanted(x), rtol=1e-4)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(80)))


def test_refusals(client: Client) -> None:
    assert client("GET", "/v2/models/other")[0] == 404
    assert client("POST", "/v2/models/other/infer", inference(X))[0] == 404
    assert client("GET", "/nothing")[0] == 404
    for body, reason in ((b"{", "not valid JSON"), (inference(X[:, :2]), "")):
        status, answer, _ = client("POST", "/v2/models/dense/infer", body)
        assert status == 400
        assert reason in json.loads(answer)["error"]
    assert client("POST", "/v2/models/dense/infer", inference(X))[0] == 200
