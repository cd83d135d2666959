"""Counts the instructions of one inference on a CPU with AVX-512 VNNI, in mslite and in other runtimes.

    python -m tests.slow.vnni_instructions --models=INT8_FOLDER [--float-models=FLOAT_FOLDER] [--networks=NAME,NAME]

Runs each INT8_FOLDER/NETWORK.onnx (LiteRT: NETWORK.tflite in the same folder) on the machine that `avx512_machine` emulates, with one
thread, and prints a line per network and runtime. The emulator's clock advances by one tick per instruction, so time measures
instructions; a loop of known length gives the number per second. Ports, caches and memory are not modeled: fewer instructions do not
always take less time, but the counts are the same on any host.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from mslite.benchmark.peers.measure import is_wanted, make_inputs
from tests.slow import avx512_machine

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("MSLITE_BUILD", "build")
PEERS = {"onnxruntime": "onnxruntime", "openvino": "openvino", "litert": "ai_edge_litert"}
"""Runtimes by their required package."""
_LOOP = 100_000_000
_CLOCK = """\
#include <stdio.h>
#include <time.h>
int main(void) {
  struct timespec a, b;
  long count = %d / 2;
  clock_gettime(CLOCK_MONOTONIC, &a);
  __asm__ volatile("1: dec %%0; jnz 1b" : "+r"(count));
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("second %%.9f\\n", (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
}
"""
_DRIVER = """\
import sys
from pathlib import Path
sys.path.insert(0, "/site")
import numpy as np
from peers.runtimes import RUNTIMES
from peers.serve import timed
with np.load(sys.argv[3]) as arrays:
    inputs = {name: arrays[name] for name in arrays.files}
runtime = RUNTIMES[sys.argv[1]](Path(sys.argv[2]), Path("/tmp"), inputs, 1)
runtime.run()
print("second", min(timed(runtime, 0, 3)[0]) / 1e3)
"""


class Disc:
    """The contents of the machine: programs at their own paths, files at the given ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs: list[Path] = []
        self.files: dict[str, Path] = {}
        self.commands: dict[str, str] = {}

    def add_text(self, place: str, text: str) -> None:
        path = self.folder / Path(place).name
        path.write_text(text)
        self.files[place] = path

    def add_folder(self, place: str, folder: Path) -> None:
        """Adds a folder, and the system libraries that its shared objects load."""
        for parent, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if name not in ("__pycache__", "site-packages", "test", "tests")]
            for path in (Path(parent) / name for name in names):
                self.files[f"{place}/{path.relative_to(folder)}"] = path
                if ".so" in path.name:
                    for library in avx512_machine.libraries(path):
                        if not library.is_relative_to(folder):
                            self.files.setdefault(str(library), library)

    def add_python(self) -> str:
        """Adds the interpreter, its library and the packages of the runtimes. Returns the command that runs _DRIVER."""
        self.programs.append(Path(sys.executable).resolve())
        standard = Path(sysconfig.get_path("stdlib"))
        self.add_folder(str(standard), standard)
        self.add_folder("/site/peers", ROOT / "benchmark/peers")
        for package in ("numpy", *PEERS.values()):
            found = importlib.util.find_spec(package)
            if found is not None and found.submodule_search_locations:
                folder = Path(found.submodule_search_locations[0])
                self.add_folder(f"/site/{package}", folder)
                if (beside := folder.with_name(f"{package}.libs")).is_dir():
                    self.add_folder(f"/site/{package}.libs", beside)
        self.add_text("/driver.py", _DRIVER)
        return f"PYTHONHOME={sys.base_prefix} {self.programs[-1]} /driver.py"

    def add_clock(self) -> None:
        source, program = self.folder / "clock.c", self.folder / "clock"
        source.write_text(_CLOCK % _LOOP)
        subprocess.run(["gcc", "-O1", "-o", str(program), str(source)], check=True)
        self.programs.append(program)
        self.commands["clock"] = str(program)

    def add_own(self, label: str, model: Path, isa: str) -> None:
        converted = self.folder / f"{label}.ms"
        command = ["--fmk=ONNX", f"--modelFile={model}", f"--outputFile={converted}"]
        subprocess.run([sys.executable, "-m", "mslite.converter.cli", *command], check=True, stdout=subprocess.DEVNULL)
        place = f"/{converted.name}"
        self.files[place] = converted
        benchmark = BUILD / "benchmark" / "benchmark"
        if benchmark not in self.programs:
            self.programs.append(benchmark)
        self.commands[label] = (
            f"MSLITE_ISA={isa} {benchmark} --modelFile={place} --numThreads=1 --warmUpLoopCount=1 --loopCount=3"
        )


def seconds(text: str) -> float | None:
    """Returns the measurement of a command by its own clock; None if it failed."""
    if match := re.search(r"^second ([\d.e-]+)$", text, re.MULTILINE):
        return float(match[1])
    if match := re.search(r"MinRunTime = ([\d.]+) ms", text):
        return float(match[1]) / 1e3
    return None


def measure(network: str, models: Path, float_models: Path | None, peers: list[str], hours: float) -> None:
    """Runs one boot (only one network fits into the machine's memory); prints a line per runtime."""
    with tempfile.TemporaryDirectory() as name:
        disc = Disc(Path(name))
        disc.add_clock()
        python = disc.add_python() if peers else ""
        model, inputs = models / f"{network}.onnx", Path(name) / "inputs.npz"
        make_inputs(model, inputs)
        disc.files |= {f"/models/{model.name}": model, "/models/inputs.npz": inputs}
        if model.with_suffix(".tflite").exists():
            disc.files[f"/models/{network}.tflite"] = model.with_suffix(".tflite")
        disc.add_own("mslite", model, "vnni")
        if float_models:
            disc.add_own("mslite-float32", float_models / model.name, "avx512")
        for runtime in peers:
            if importlib.util.find_spec(PEERS[runtime]) is not None:
                disc.commands[runtime] = f"{python} {runtime} /models/{model.name} /models/inputs.npz 2>&1"
        found = avx512_machine.run(
            list(disc.commands.values()),
            disc.programs,
            disc.files,
            BUILD / "vnni_machine",
            hours * 3600,
            megabytes=2047,
        )
    results = dict(zip(disc.commands, found, strict=False))
    rate = _LOOP / (seconds(results["clock"].text) or 1.0) if "clock" in results else 0.0
    for runtime in disc.commands:
        if runtime == "clock":
            continue
        took = seconds(results[runtime].text) if runtime in results else None
        last = results[runtime].text.strip().splitlines()[-1:] if runtime in results else ["not reached"]
        print(f"{network:28} {runtime:16} " + (f"{took * rate / 1e6:20.1f}" if took else f"failed: {last}"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="", help="networks, separated by commas, with or without the input size")
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--float-models", type=Path)
    parser.add_argument("--peers", default=",".join(PEERS), help="runtimes to compare with; may be empty")
    parser.add_argument("--hours", type=float, default=1.0, help="time limit per network")
    arguments = parser.parse_args()
    peers = [name for name in arguments.peers.split(",") if name]
    if unknown := set(peers) - set(PEERS):
        sys.exit(f"--peers: {', '.join(sorted(unknown))} is none of {', '.join(PEERS)}")
    if reason := avx512_machine.missing():
        sys.exit(reason)
    print(f"{'network':28} {'runtime':16} {'million instructions':>20}")
    networks = sorted(path.stem for path in arguments.models.glob("*.onnx") if is_wanted(path.stem, arguments.networks))
    if not networks:
        sys.exit(f"{arguments.models} holds no ONNX file{' of these names' if arguments.networks else ''}.")
    for network in networks:
        measure(network, arguments.models, arguments.float_models, peers, arguments.hours)


if __name__ == "__main__":
    main()
