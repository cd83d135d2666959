"""Measures costs and savings of adapters on a transformer with 6 blocks of width 256 (3.4 million weights).

    python -m tests.training.adapter_figures

The results are in docs/adapters.md.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import mslite
from mslite.converter import cli

from .transformer import Sizes, sentences, transformer

SIZES = Sizes(blocks=6, width=256, length=64, words=1000)
SETTINGS = {"all": "", "adapters": "lora_rank=8\nlora_layers=block*\n"}


def convert(folder: Path, name: str, *flags: str) -> None:
    assert cli.main([f"--modelFile={folder / 'former.onnx'}", f"--outputFile={folder / name}", *flags]) == 0


def context() -> mslite.Context:
    """A context with one thread."""
    made = mslite.Context()
    made.cpu.thread_num = 1
    return made


def build(file: Path, train: bool) -> mslite.Model:
    model = mslite.Model()
    config = mslite.TrainCfg() if train else None
    model.build_from_file(file, mslite.ModelType.MINDIR, context(), train_cfg=config)
    if train:
        model.set_train_mode(True)
    return model


def best(run: Callable[[], object], count: int = 8) -> float:
    """Returns the minimum of `count` times in milliseconds."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return 1000 * min(times)


def steps(file: Path) -> None:
    """Prints the time of a step, and the peak memory of this process."""
    model, batch = build(file, train=True), list(sentences(sizes=SIZES))
    model.run_step(batch)
    shortest = best(lambda: model.run_step(batch))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{file.stem}: {shortest:.0f} ms a step, {peak:.0f} MiB at most, file {file.stat().st_size / 1e6:.1f} MB")


def inference(folder: Path) -> None:
    """Prints file sizes, and times of loading and of inference."""
    build(folder / "adapters.ms", train=True).export_adapter(folder / "adapter.ms")
    model, ids = build(folder / "base.ms", train=False), [sentences(sizes=SIZES)[0]]
    for name in ("base", "adapter"):
        print(f"{name}: {(folder / f'{name}.ms').stat().st_size / 1e6:.2f} MB")
    print(f"base: {best(lambda: model.predict(ids)):.0f} ms")
    print(f"first adapter: {best(lambda: model.load_adapter(folder / 'adapter.ms'), 1):.1f} ms to load")
    print(f"next adapter: {best(lambda: model.load_adapter(folder / 'adapter.ms')):.2f} ms to load")
    print(f"base and adapter: {best(lambda: model.predict(ids)):.0f} ms")


def main() -> None:
    if len(sys.argv) > 1:
        steps(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        transformer(folder / "former.onnx", SIZES)
        convert(folder, "base")
        for kind, lines in SETTINGS.items():
            (folder / "train.cfg").write_text(f"[train_param]\noptimizer=Adam\n{lines}")
            convert(folder, kind, "--trainModel=true", f"--configFile={folder / 'train.cfg'}")
        for kind in 2 * list(SETTINGS):
            program = [sys.executable, "-m", "tests.training.adapter_figures", folder / f"{kind}.ms"]
            subprocess.run(program, check=True)
        inference(folder)


if __name__ == "__main__":
    main()
