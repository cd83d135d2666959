"""`make bench-arm64`: what one inference takes on 64-bit ARM, counted under QEMU and so the same on every machine.

    python -m tests.arm64.instructions MODELS [--int8 MODELS] --builds gcc=build-arm64,clang=build-arm64-clang --out build

For each ONNX file in the folders: instructions, bytes loaded and stored, and the lines that two modelled caches miss
(codegen/boards/count_instructions.c), of the second inference with one thread. float32 runs on a Cortex-A53, float16 and
int8 on a Cortex-A76, int8 also on the newest core that QEMU knows. Instructions are not cycles: they tell what a change of
ours did, and so do the misses.

--functions lists where the instructions of one network go.
"""

from __future__ import annotations

import argparse
import bisect
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import mslite
from mslite.codegen.boards.run import counting_plugin

EMULATORS = {"arm64": "qemu-aarch64", "armv7": "qemu-arm"}
MARKS = {"arm64": "begin-code=0xd5032ddf,end-code=0xd5032dff", "armv7": "begin-code=0x806ef3af,end-code=0x806ff3af"}
"""The hints of tests/arm64/marks.h; on 32-bit ARM those of Thumb code."""


@dataclass(frozen=True)
class Setting:
    """A precision and the core on which it is counted."""

    name: str
    core: str
    quantised: bool = False
    arguments: tuple[str, ...] = ()
    arch: str = "arm64"


SETTINGS = (
    Setting("float32", "cortex-a53"),
    Setting("float16", "cortex-a76", arguments=("float16",)),
    Setting("int8", "cortex-a76", quantised=True),
    Setting("int8, newest core", "max", quantised=True),
    Setting("int8, no dot product", "cortex-a53", quantised=True),
    Setting("float32, 32 bits", "cortex-a7", arch="armv7"),
    Setting("int8, 32 bits", "cortex-a7", quantised=True, arch="armv7"),
)


@dataclass(frozen=True)
class Count:
    """What one inference took. Bytes and lines of 64 bytes are those of data."""

    network: str
    setting: str
    build: str
    instructions: int
    loaded: int
    stored: int
    l1_misses: int
    l2_misses: int
    checksum: str


def convert(model: Path, folder: Path) -> Path:
    """The `.ms` file of an ONNX file."""
    file = folder / f"{model.stem}.ms"
    if not file.exists():
        mslite.Converter().convert(mslite.FmkType.ONNX, str(model), str(file))
    return file


def run(program: Path, model: Path, setting: Setting, options: str, out: Path) -> tuple[list[str], str]:
    """The lines of the plug-in for one inference, and the checksum of its outputs."""
    emulator = EMULATORS[setting.arch]
    plugin = f"{counting_plugin(emulator)},{MARKS[setting.arch]},out={out}{options}"
    command = [emulator, "-cpu", setting.core, "-plugin", plugin, str(program), str(model), *setting.arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{model.name}, {setting.name}: {result.stderr.strip() or result.returncode}")
    return out.read_text().splitlines(), result.stdout.split()[-1]


def count(build: str, program: Path, model: Path, setting: Setting, folder: Path) -> Count:
    lines, checksum = run(program, convert(model, folder), setting, ",memory=on", folder / "counts.txt")
    memory = [int(number) for number in lines[1].split()[1:]]
    return Count(model.stem, setting.name, build, int(lines[0].split()[1]), *memory, checksum)


def functions(program: Path, model: Path, setting: Setting, folder: Path) -> list[tuple[str, int]]:
    """Instructions by function, most first."""
    listing = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True).stdout
    fields = [line.split() for line in listing.splitlines()]
    symbols = sorted(
        (int(f[0], 16), f[2]) for f in fields if len(f) == 3 and f[1] in "tTwW" and not f[2].startswith("$")
    )
    starts = [address for address, _ in symbols]
    lines, _ = run(program, convert(model, folder), setting, "", folder / "counts.txt")
    found: Counter[str] = Counter()
    for line in lines[1:]:
        address, executed = line.split()
        found[symbols[bisect.bisect_right(starts, int(address, 16)) - 1][1]] += int(executed)
    return found.most_common()


def table(counts: list[Count], builds: Iterable[str]) -> str:
    """A table in Markdown for each setting: million instructions by build, then the first build's memory traffic."""
    names = list(builds)
    text = []
    for setting in SETTINGS:
        rows = {(c.network, c.build): c for c in counts if c.setting == setting.name}
        if not rows:
            continue
        text.append(f"**{setting.name}** ({setting.core}), million instructions:\n")
        text.append(f"| network | {' | '.join(names)} | MB loaded | MB stored | L1 misses, thousands | L2 misses |")
        text.append("|---|" + "--:|" * (len(names) + 4))
        for network in dict.fromkeys(network for network, _ in rows):
            row = [rows[network, name] for name in names]
            first = row[0]
            cells = [f"{c.instructions / 1e6:.1f}" for c in row]
            cells += [f"{first.loaded / 1e6:.0f}", f"{first.stored / 1e6:.0f}"]
            cells += [f"{first.l1_misses / 1e3:.0f}", f"{first.l2_misses / 1e3:.0f}"]
            text.append(f"| {network} | {' | '.join(cells)} |")
        text.append("")
    return "\n".join(text)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.arm64.instructions", description=__doc__)
    parser.add_argument("models", type=Path, help="folder of ONNX files in float32")
    parser.add_argument("--int8", type=Path, help="folder of quantised ONNX files")
    parser.add_argument("--builds", default="gcc=build-arm64", help="name=folder of cross builds, separated by commas")
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder for bench_arm64.json and .md")
    parser.add_argument("--arch", choices=EMULATORS, default="arm64", help="arm64, or armv7 for 32-bit ARM")
    parser.add_argument("--networks", default="", help="only these, separated by commas")
    parser.add_argument("--settings", default="", help="only these, separated by semicolons")
    parser.add_argument("--functions", metavar="NETWORK", help="list the functions of one network instead")
    options = parser.parse_args()
    builds = {name: Path(folder) / "tests/one_inference" for name, _, folder in
              (item.partition("=") for item in options.builds.split(","))}  # fmt: skip
    wanted = set(filter(None, options.networks.split(",")))
    settings = [s for s in SETTINGS if s.arch == options.arch]
    settings = [s for s in settings if not options.settings or s.name in options.settings.split(";")]
    counts: list[Count] = []
    with tempfile.TemporaryDirectory() as temporary:
        for setting in settings:
            source = options.int8 if setting.quantised else options.models
            if source is None:
                continue
            folder = Path(temporary) / ("int8" if setting.quantised else "float")
            folder.mkdir(exist_ok=True)
            for model in sorted(source.glob("*.onnx")):
                if options.functions is not None:
                    if model.stem == options.functions:
                        for name, executed in functions(next(iter(builds.values())), model, setting, folder)[:20]:
                            print(f"{setting.name:22} {executed / 1e6:9.2f} {name}")
                    continue
                if wanted and model.stem not in wanted:
                    continue
                found = [count(name, program, model, setting, folder) for name, program in builds.items()]
                counts += found
                shown = "  ".join(f"{c.build} {c.instructions / 1e6:.1f}" for c in found)
                differs = "" if len({c.checksum for c in found}) == 1 else "  outputs differ"
                print(f"{setting.name:22} {model.stem:28} {shown}{differs}", flush=True)
    if options.functions is None:
        (options.out / f"bench_{options.arch}.json").write_text(
            json.dumps([asdict(c) for c in counts], indent=1) + "\n"
        )
        (options.out / f"bench_{options.arch}.md").write_text(table(counts, builds))
        print(f"Wrote {options.out}/bench_{options.arch}.json and .md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
