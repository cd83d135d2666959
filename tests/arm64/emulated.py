"""An emulated 64-bit ARM machine for the other runtimes: Debian's Python and the wheels in a folder, run with QEMU.

Nothing is installed on this machine. The folder is kept, so that later runs download nothing. If a runtime is not available, it is
reported, and the others run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mslite.benchmark.peers.measure import cosine, make_inputs
from mslite.benchmark.peers.runtimes import RUNTIMES
from tests.arm64.counting import Count, Failed, Setting, counted

ROOT = Path(__file__).resolve().parents[2]
PEERS = ("ncnn", "MNN", "onnxruntime", "litert")
"""The runtimes of benchmark/peers that have wheels for 64-bit ARM."""
_READ_INT8 = ("onnxruntime", "litert")
"""MNN and ncnn cannot convert QDQ files."""
_DEBIAN = ("python3", "libstdc++6", "libgomp1")
_PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")
_BESIDE = ("numpy", "flatbuffers")
"""Packages that the runtimes import but do not need to run a model."""

_V8_0 = "fp asimd evtstrm aes pmull sha1 sha2 crc32"
_V8_2 = f"{_V8_0} atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"
_NEWEST = f"{_V8_2} jscvt fcma sha3 sha512 asimdfhm dit uscat ilrcpc flagm ssbs sb paca pacg flagm2 frint i8mm bf16 bti"
CORES = {
    "cortex-a53": (0xD03, _V8_0),
    "cortex-a57": (0xD07, _V8_0),
    "cortex-a72": (0xD08, _V8_0),
    "cortex-a76": (0xD0B, f"{_V8_2} ssbs"),
    "neoverse-n1": (0xD0C, f"{_V8_2} ssbs"),
    "max": (0xD47, _NEWEST),
}
"""Part number and features in /proc/cpuinfo. QEMU's `max` is not a real core; it is shown as a Cortex-A710."""


@dataclass(frozen=True)
class Machine:
    """`folder/unpacked` has Debian's files, `folder/site` the wheels, `folder/NAME` the files for a core."""

    folder: Path
    missing: dict[str, str]
    """Runtime -> reason if it is not available."""

    @property
    def python(self) -> Path:
        return _python(self.folder)

    @property
    def marks(self) -> Path:
        return self.folder / "libmarks.so"

    def root_of(self, core: str) -> Path:
        return self.folder / core


def _python(folder: Path) -> Path:
    """Returns the path of the interpreter with its version. `python3` is a link that packages create on a real machine."""
    return next(iter(sorted((folder / "unpacked/usr/bin").glob("python3.[0-9]*"))), folder / "no-python")


def make_core(folder: Path, core: str) -> None:
    """Prepares Debian's folders, and the files that describe the processor: one core of this kind."""
    part, features = CORES[core]
    root = folder / core
    system = root / "sys/devices/system/cpu"
    for path in (root / "proc", system):
        path.mkdir(parents=True, exist_ok=True)
    for name in ("bin", "etc", "lib", "usr"):
        if not (root / name).is_symlink():
            (root / name).symlink_to(Path("..") / "unpacked" / name)
    (root / "proc/cpuinfo").write_text(
        f"processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: {features}\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
        f"CPU variant\t: 0x1\nCPU part\t: {part:#x}\nCPU revision\t: 0\n\n"
    )
    for name in ("possible", "present", "online"):
        (system / name).write_text("0\n")


def _install(folder: Path, package: str) -> str:
    """Unpacks a wheel without its dependencies. Returns "", or the reason if it is not available."""
    python = _python(folder).name.removeprefix("python")
    platforms = [option for name in _PLATFORMS for option in ("--platform", f"{name}_aarch64")]
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    command += [*platforms, "--python-version", python, "--only-binary=:all:", "--target", str(folder / "site")]
    result = subprocess.run([*command, package], capture_output=True, text=True, check=False)
    lines = [line for line in result.stderr.splitlines() if line.startswith("ERROR")]
    return "" if result.returncode == 0 else (lines or result.stderr.splitlines() or ["pip failed"])[-1]


def _as_here(package: str) -> str:
    """Returns a package in the version that this interpreter has installed, if any."""
    try:
        return f"{package}=={version(package)}"
    except PackageNotFoundError:
        return package


def prepare(folder: Path, peers: list[str], say: Callable[[str], None]) -> Machine:
    """Downloads missing files.

    Raises:
        Failed: the machine cannot be prepared.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not _python(folder).exists():
        say(f"Fetching Debian's Python for 64-bit ARM into {folder} ...")
        command = [str(ROOT / ".ci/arm64_packages"), str(folder), "--with-dependencies", *_DEBIAN]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0 or not _python(folder).exists():
            raise Failed(f"Debian's Python for 64-bit ARM cannot be had: {result.stderr.strip()}")
    for core in CORES:
        make_core(folder, core)
    missing: dict[str, str] = {}
    packages = {name: name for name in _BESIDE} | {name: RUNTIMES[name].package for name in peers}
    for name, package in packages.items():
        installed = package.lower().replace("-", "_")
        if not list((folder / "site").glob(f"{installed}-*.dist-info")):
            wanted = _as_here(package)
            say(f"Fetching {wanted} for 64-bit ARM ...")
            if reason := _install(folder, wanted):
                missing[name] = reason
    if absent := missing.keys() & set(_BESIDE):
        raise Failed("; ".join(missing[name] for name in absent))
    compiler = ["aarch64-linux-gnu-gcc", "-O1", "-shared", "-fPIC", "-nostdlib"]
    marks = Path(__file__).with_name("marks.c")
    subprocess.run([*compiler, str(marks), "-o", str(folder / "libmarks.so")], check=True)
    return Machine(folder, missing)


def peers_for(precision: str) -> list[str]:
    """Returns the runtimes that support a precision."""
    if precision == "int8":
        return list(_READ_INT8)
    return [name for name in PEERS if precision in RUNTIMES[name].precisions]


@dataclass
class Prepared:
    """The inputs of a network, and the files that the runtimes' converters write on this machine."""

    model: Path
    work: Path
    inputs: Path
    failures: dict[str, str]
    """Runtime -> reason if its converter does not support the model."""
    reference: npt.NDArray[Any]


def convert(model: Path, folder: Path, peers: list[str]) -> Prepared:
    """Converts the network for all runtimes in its own folder. Existing files are used if they are newer than the model."""
    import onnxruntime

    work = folder / model.stem
    inputs = work / "inputs.npz"
    if inputs.exists() and inputs.stat().st_mtime < model.stat().st_mtime:
        for path in work.iterdir():
            path.unlink()
    work.mkdir(parents=True, exist_ok=True)
    if not inputs.exists():
        make_inputs(model, inputs)
    with np.load(inputs) as arrays:
        given = {name: arrays[name] for name in arrays.files}
    failures: dict[str, str] = {}
    for peer in peers:
        try:
            RUNTIMES[peer].convert(model, work, given)
        except RuntimeError as error:
            failures[peer] = str(error)
        except FileNotFoundError as error:
            failures[peer] = f"its converter is not installed: {error}"
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    return Prepared(model, work, inputs, failures, session.run(None, given)[0])


def count_peer(machine: Machine, peer: str, network: Prepared, setting: Setting, out: Path) -> tuple[Count, str]:
    """Counts one inference of a runtime. Returns the counts and the version of the runtime.

    Raises:
        Failed: the runtime cannot run the network.
    """
    if reason := machine.missing.get(peer) or network.failures.get(peer):
        raise Failed(reason)
    result = out.with_suffix(".npy")
    precision = setting.precision if setting.precision in RUNTIMES[peer].precisions else "float32"
    command = [str(machine.python), str(Path(__file__).with_name("peer_inference.py")), peer, str(network.model)]
    command += [str(network.work), str(network.inputs), precision, str(machine.marks), str(result)]
    environment = os.environ | {"PYTHONPATH": f"{machine.folder / 'site'}:{ROOT / 'benchmark'}"}
    environment.pop("LD_LIBRARY_PATH", None)
    found = counted(command, setting.core, out, machine.root_of(setting.told), environment)
    agrees = f"{cosine(np.load(result), network.reference):.4f}"
    count = Count(network.model.stem, setting.name, peer, found.instructions, *found.memory, agrees)
    return count, found.output.split()[-1]
