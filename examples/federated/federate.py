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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
from picture import picture
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = Path(__file__).resolve().parent
CLIENTS = 3
PATIENCE = 60
"""Time limit in seconds for the start of the server and for each round."""


def free_ports(count: int) -> list[int]:
    with ExitStack() as all_open:
        listeners = [all_open.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [listener.getsockname()[1] for listener in listeners]


def toml(values: Mapping[str, str | int | float], separator: str) -> str:
    """Formats values as TOML. Strings and numbers have the same syntax in JSON and TOML."""
    return separator.join(f"{key}={json.dumps(value)}" for key, value in values.items())


def descendants(process: int) -> list[int]:
    """Returns all descendants of a process on Linux, where Flower starts some of them in their own sessions.

    Elsewhere the result is empty; there they end after their parent has ended.
    """
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # ended meanwhile
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    family = [process]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member]
    return family[1:]


@contextmanager
def running(command: Sequence[str | Path], log: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a process, which is ended with its children at the end of the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        children = descendants(process.pid)
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        process.kill()
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


def write_data(folder: Path) -> None:
    """Writes scikit-learn's digits: a file for each client, and a test set of all digits."""
    images, labels = load_digits(return_X_y=True)
    images, test_images, labels, test_labels = train_test_split(
        (images.reshape(-1, 8, 8, 1) / 16).astype(np.float32), labels.astype(np.int32),
        train_size=1440, test_size=352, random_state=0, stratify=labels,
    )  # fmt: skip
    np.savez(folder / "test.npz", images=test_images, labels=test_labels)
    # Sorted by label, so that clients have different digits. Differential privacy needs equal numbers of images.
    for client, chosen in enumerate(np.split(np.argsort(labels, kind="stable"), CLIENTS)):
        np.savez(folder / f"client{client}.npz", images=images[chosen], labels=labels[chosen])


class Federation:
    """Runs a server and its clients until the end of the block."""

    def __init__(self, model: Path, folder: Path) -> None:
        self._model, self._folder = model, folder
        self._programs = Path(sys.executable).parent
        self._environment = {
            **os.environ,
            "PATH": f"{self._programs}{os.pathsep}{os.environ['PATH']}",
            "FLWR_HOME": str(folder),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
        }
        self._started = ExitStack()

    def __enter__(self) -> Federation:
        server_port, *client_ports = free_ports(1 + CLIENTS)
        write_data(self._folder)
        (self._folder / "config.toml").write_text(
            f'[superlink.loopback]\naddress = "127.0.0.1:{server_port}"\ninsecure = true\n'
        )
        with self._started:
            server = self._start("superlink", server_port, "--disable-runtime-dependency-installation")
            wait_for(server, server_port)
            for client, port in enumerate(client_ports):
                device = {
                    "client": client, "data-file": str(self._folder / f"client{client}.npz"), "model-file": str(self._model)
                }  # fmt: skip
                self._start(
                    "supernode", port, f"--superlink=127.0.0.1:{server_port}", f"--node-config={toml(device, ' ')}"
                )
            self._started = self._started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    def train(self, rounds: int, epochs: int, noise: float, clipping: float, exported: Path) -> dict[str, Any]:
        """Returns the report of `server_app.py`. Raises RuntimeError with the logs if there is none."""
        report = self._folder / "report.json"
        report.unlink(missing_ok=True)
        config = {
            "model-file": str(self._model), "test-file": str(self._folder / "test.npz"), "report-file": str(report),
            "exported-file": str(exported), "clients": CLIENTS, "rounds": rounds, "epochs": epochs,
            "noise-multiplier": noise, "clipping-norm": clipping,
        }  # fmt: skip
        (self._folder / "run.toml").write_text(toml(config, "\n"))
        flags = ["--stream", f"--run-config={self._folder / 'run.toml'}"]  # which ends when the training does
        command = [self._programs / "flwr", "run", HERE, "loopback", *flags]
        seconds = PATIENCE * (1 + rounds)
        with running(command, self._folder / "run.log", self._environment) as run, suppress(subprocess.TimeoutExpired):
            run.wait(seconds)
        if not report.is_file():
            logs = "".join(f"\n{file.name}:\n{file.read_text()[-4000:]}" for file in sorted(self._folder.glob("*.log")))
            what = f"did not end within {seconds} seconds" if run.returncode < 0 else "failed"
            raise RuntimeError(f"the training {what}; the logs:{logs}")
        found: dict[str, Any] = json.loads(report.read_text())
        return found

    def _start(self, program: str, port: int, *flags: str) -> subprocess.Popen[bytes]:
        command = [self._programs / f"flower-{program}", "--insecure", "--host=127.0.0.1", f"--port={port}", *flags]
        return self._started.enter_context(running(command, self._folder / f"{program}{port}.log", self._environment))


def print_rounds(name: str, report: dict[str, Any]) -> None:
    for number, (accuracy, clients) in enumerate(zip(report["accuracy"], [[], *report["clients"]], strict=True)):
        print(f"{name}: round {number}: accuracy {accuracy:.1%}, trained by clients {clients}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Federated learning of a training .ms model with Flower.")
    parser.add_argument("model", type=Path, metavar="FILE.ms", help="from converter_lite --trainModel=true")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2, help="epochs of each client in each round")
    parser.add_argument("--clipping-norm", type=float, default=2.0, help="maximum norm of the update of a client")
    parser.add_argument(
        "--noise-multiplier",
        type=float,
        default=0.1,
        help="standard deviation of the noise, relative to the clipping norm",
    )
    parser.add_argument("--out", type=Path, default=Path("federated"), help="folder for accuracy.svg and the models")
    asked = parser.parse_args()
    if not asked.model.is_file():
        parser.error(f"file '{asked.model}' does not exist")
    if asked.rounds < 1 or asked.epochs < 1 or asked.clipping_norm <= 0 or asked.noise_multiplier <= 0:
        parser.error("rounds, epochs, clipping norm and noise multiplier must be positive")
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # so that the processes are ended, too
    reports: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            with Federation(asked.model.resolve(), Path(folder)) as federation:
                for name, noise in (("averaged", 0.0), ("private", asked.noise_multiplier)):
                    exported = out / f"{name}.ms"
                    report = federation.train(asked.rounds, asked.epochs, noise, asked.clipping_norm, exported)
                    print_rounds(name, report)
                    reports[name] = report
        except RuntimeError as error:
            sys.exit(f"federate.py: {error}")
    settings = (
        f"updates clipped at {asked.clipping_norm:g}, noise {asked.noise_multiplier:g}: "
        f"epsilon {report['epsilon']:.3g} at delta {report['delta']:g}"
    )
    print(f"differential privacy: {settings}")
    (out / "report.json").write_text(json.dumps(reports))
    (out / "accuracy.svg").write_text(
        picture(
            f"{CLIENTS} clients, each with digits that no other has: accuracy on all digits",
            f"epochs in a round: {asked.epochs}; differential privacy: {settings}",
            {"averaged": reports["averaged"]["accuracy"], "with differential privacy": reports["private"]["accuracy"]},
        )
    )
    print(f"wrote accuracy.svg, report.json, averaged.ms and private.ms to {out}")


if __name__ == "__main__":
    main()
