"""Fixtures: generated projects that several tests use are generated once for all test processes."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named

from .networks import autoencoder, keywords, resnet8

NETWORKS = {"keywords": keywords, "resnet8": resnet8, "autoencoder": autoencoder}
SHARED = Path(__file__).resolve().parents[3] / "shared" / "models"
OPEN = {
    "kws": "mlperf_tiny/kws_ref_int8",
    "micro_speech": "tflite_micro/micro_speech_quantized",
    "hello_world": "tflite_micro/hello_world_int8",
    "int16x8": "keras_tflite/ds_cnn_kws_int16x8",
}

Projects = Callable[..., Path]


def networks_here() -> list[str]:
    """Returns all networks; without ../shared/models, the generated ones."""
    return [*NETWORKS, *(name for name, path in OPEN.items() if (SHARED / path / "model.tflite").exists())]


def model_file(name: str, folder: Path) -> Path:
    """Returns the `.tflite` file of a network. Skips the test if it is missing."""
    if name in OPEN:
        path = SHARED / OPEN[name] / "model.tflite"
        if not path.exists():
            pytest.skip("../shared/models is not there")
        return path
    path = folder / f"{name}.tflite"
    path.write_bytes(NETWORKS[name]())
    return path


def _skip_without_tools(target: str) -> None:
    chosen = target_named(target)
    for program in (chosen.compiler, *chosen.emulator[:1], *(["qemu-system-arm"] if chosen.board else [])):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Projects:
    """projects(names, target): returns a project of these networks, which must not be changed. Pass `make` another BUILD folder."""
    base = tmp_path_factory.getbasetemp()
    root = (base if worker_id == "master" else base.parent) / "generated"
    root.mkdir(exist_ok=True)

    def project(names: Sequence[str], target: str) -> Path:
        _skip_without_tools(target)
        folder = root / "-".join([*names, target])
        with (root / f"{folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "project").exists():
                folder.mkdir(exist_ok=True)
                sources = [Source(model_file(name, folder), name=name) for name in names]
                generate(sources, GenerateSettings(target_named(target), folder / "new" / "project", measure=False))
                (folder / "new" / "project").rename(folder / "project")
        return folder / "project"

    return project
