#!/usr/bin/env python3
"""Three clients and a server on this machine train one `.ms` model together, with and without differential privacy.

    converter_lite --modelFile=../digits/digits.onnx --outputFile=digits --inputShape=image:16,1,8,8 --trainModel=true --configFile=train.cfg
    python federate.py digits.ms

The server is Flower's SuperLink, each client a SuperNode; they are processes that speak HTTP over loopback.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from picture import picture

HERE = Path(__file__).resolve().parent
CLIENTS = 3
PATIENCE = 60
"""Seconds for the server to start."""


def free_ports(count: int) -> list[int]:
    with ExitStack() as all_open:
        listeners = [all_open.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [listener.getsockname()[1] for listener in listeners]


@contextmanager
def running(command: list[str], log: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block, and its children with it: they are of one process group."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < end:
        try:
            with urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"Flower's SuperLink did not start within {PATIENCE} seconds")


class Federation:
    """A server and its clients, while the block lasts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs = Path(sys.executable).parent
        self._environment = {
            **os.environ,
            "PATH": f"{self._programs}{os.pathsep}{os.environ['PATH']}",
            "FLWR_HOME": str(folder),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
        }
        self._all = ExitStack()

    def __enter__(self) -> Federation:
        server_port, *client_ports = free_ports(1 + CLIENTS)
        (self._folder / "config.toml").write_text(
            f'[superlink]\ndefault = "loopback"\n\n[superlink.loopback]\naddress = "127.0.0.1:{server_port}"\ninsecure = true\n'
        )
        with ExitStack() as started:
            server = started.enter_context(
                self._start("superlink", "--disable-runtime-dependency-installation", f"--port={server_port}")
            )
            wait_for(server, server_port)
            for client, port in enumerate(client_ports):
                started.enter_context(
                    self._start(
                        "supernode", f"--superlink=127.0.0.1:{server_port}", f"--port={port}",
                        f"--node-config=partition-id={client}", name=f"client{client}",
                    )
                )  # fmt: skip
            self._all = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._all.close()

    def train(self, model: Path, rounds: int, epochs: int, noise: float, clipping: float, exported: Path) -> dict[str, Any]:
        """What `server_app.py` reports. Raises RuntimeError with the log when it reports nothing."""
        report = self._folder / "report.json"
        report.unlink(missing_ok=True)
        config = {
            "model-file": str(model), "report-file": str(report), "exported-file": str(exported),
            "clients": CLIENTS, "rounds": rounds, "epochs": epochs,
            "noise-multiplier": float(noise), "clipping-norm": float(clipping),
        }  # fmt: skip
        (self._folder / "run.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in config.items()))
        run = subprocess.run(
            [self._programs / "flwr", "run", HERE, "loopback", "--stream", f"--run-config={self._folder / 'run.toml'}"],
            env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        if not report.is_file():
            raise RuntimeError(f"the training did not finish:\n{run.stdout}")
        found: dict[str, Any] = json.loads(report.read_text())
        return found

    def _start(self, program: str, *flags: str, name: str = "") -> AbstractContextManager[subprocess.Popen[bytes]]:
        command = [str(self._programs / f"flower-{program}"), "--insecure", "--host=127.0.0.1", *flags]
        return running(command, self._folder / f"{name or program}.log", self._environment)


def main() -> None:
    parser = argparse.ArgumentParser(description="Federated learning of a training .ms model with Flower.")
    parser.add_argument("model", type=Path, metavar="FILE.ms", help="from converter_lite --trainModel=true")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=1, help="of each client in each round")
    parser.add_argument("--clipping-norm", type=float, default=1.0, help="longest change of the weights by a client")
    parser.add_argument("--noise-multiplier", type=float, default=0.1, help="deviation of the noise on the sum, in clipping norms")
    parser.add_argument("--out", type=Path, default=Path("federated"), help="folder for accuracy.svg and the models")
    asked = parser.parse_args()
    if not asked.model.is_file():
        parser.error(f"there is no file '{asked.model}'")
    if asked.rounds < 1 or asked.epochs < 1 or asked.clipping_norm <= 0 or asked.noise_multiplier <= 0:
        parser.error("rounds, epochs, clipping norm and noise multiplier must be positive")
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    plain, private = "averaged", "averaged with differential privacy"
    curves: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, Federation(Path(folder)) as federation:
        for name, file, noise in ((plain, "averaged.ms", 0.0), (private, "private.ms", asked.noise_multiplier)):
            found = federation.train(
                asked.model.resolve(), asked.rounds, asked.epochs, noise, asked.clipping_norm, out / file
            )
            curves[name] = found["accuracy"]
            for number, (accuracy, clients) in enumerate(zip(curves[name], [[], *found["clients"]], strict=True)):
                print(f"{name}, round {number}: accuracy {accuracy:.1%}, trained by {clients}", flush=True)
    settings = f"clipped at {asked.clipping_norm:g}, noise {asked.noise_multiplier:g}: epsilon {found['epsilon']:.3g} at delta {found['delta']:g}"
    print(f"differential privacy: {settings}")
    drawing = picture(
        f"{CLIENTS} clients, each with digits that no other has: accuracy on all digits",
        f"{asked.epochs} epoch(s) a round; updates {settings}",
        curves,
    )
    (out / "accuracy.svg").write_text(drawing)
    print(f"wrote {out / 'accuracy.svg'}, averaged.ms and private.ms")


if __name__ == "__main__":
    main()
