"""`make bench-arm64`: counts instructions of one inference on 64-bit ARM under QEMU; the counts are the same on every machine.

    python -m tests.arm64.instructions MODELS [--int8 MODELS] --builds gcc=build-arm64-gcc,clang=build-arm64 --out build

For each ONNX file in the folders: instructions, bytes loaded and stored, and misses of two modeled caches
(codegen/boards/count_instructions.c) in the second inference with one thread, for builds of mslite and for other runtimes in an
emulated Python. float32 runs on a Cortex-A53, float16 and int8 on a Cortex-A76, int8 also on QEMU's newest core and on one without
dot products. Instructions are not cycles, but like cache misses they show the effect of a change. `--compare` compares with an earlier
bench_arm64.json, and fails if cache misses of mslite increased.

--functions lists the instructions of one network by function for the first build, --loops by straight-line code block.
"""

from __future__ import annotations

import argparse
import bisect
import json
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import mslite
from mslite.benchmark.peers.measure import is_wanted
from tests.arm64 import emulated
from tests.arm64.counting import EMULATORS, PRECISIONS, SETTINGS, Count, Counted, Failed, Setting, counted
from tests.arm64.tables import OWN, comparison, table


class Builds:
    """mslite's runtime for each compiler, and the converted networks."""

    def __init__(self, programs: dict[str, Path], folder: Path) -> None:
        self.programs = programs
        self.folder = folder

    def converted(self, model: Path, setting: Setting) -> Path:
        """Returns the `.ms` file of an ONNX file."""
        file = self.folder / f"{'int8_' if setting.precision == 'int8' else ''}{model.stem}.ms"
        if not file.exists():
            mslite.Converter().convert(mslite.FmkType.ONNX, str(model), str(file))
        return file

    def run(self, build: str, model: Path, setting: Setting) -> Counted:
        arguments = ["float16"] if setting.precision == "float16" else []
        command = [str(self.programs[build]), str(self.converted(model, setting)), *arguments]
        out = self.folder / f"{model.stem}-{build}-{setting.file}.txt"
        return counted(command, setting.core, out, arch=setting.arch)

    def count(self, build: str, model: Path, setting: Setting) -> Count:
        found = self.run(build, model, setting)
        checksum = found.output.split()[-1]
        return Count(model.stem, setting.name, OWN + build, found.instructions, *found.memory, checksum)


class Symbols:
    """Returns the functions of a program by address."""

    def __init__(self, program: Path) -> None:
        listing = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True).stdout
        fields = [line.split() for line in listing.splitlines()]
        self.names = sorted(
            (int(f[0], 16), f[2]) for f in fields if len(f) == 3 and f[1] in "tTwW" and not f[2].startswith("$")
        )
        self.starts = [address for address, _ in self.names]

    def at(self, address: int) -> tuple[int, str]:
        """Returns start and name of the function at an address."""
        return self.names[bisect.bisect_right(self.starts, address) - 1]


def functions(found: Counted, symbols: Symbols) -> list[str]:
    """Returns instructions by function, highest count first."""
    executed: Counter[str] = Counter()
    for address, count in found.by_address.items():
        executed[symbols.at(address)[1]] += count
    return [f"{count / 1e6:9.2f} {name}" for name, count in executed.most_common(20)]


def loops(found: Counted, symbols: Symbols) -> list[str]:
    """Merges adjacent instructions with equal counts to blocks, sorted by total count."""
    stretches: list[tuple[int, int, int]] = []  # address, number of instructions, executions
    for address, count in sorted(found.by_address.items()):
        start, length, times = stretches[-1] if stretches else (0, 0, 0)
        if address == start + 4 * length and count == times and symbols.at(address) == symbols.at(start):
            stretches[-1] = (start, length + 1, times)
        else:
            stretches.append((address, 1, count))
    lines = []
    for address, length, times in sorted(stretches, key=lambda item: -item[1] * item[2])[:20]:
        start, name = symbols.at(address)
        lines.append(f"{length * times / 1e6:9.2f} = {times:9} x {length:4} {name}+{address - start:#x}")
    return lines


def chosen_settings(precision: str, cpu: str, arch: str) -> list[Setting]:
    """Returns the settings for the named precisions and cores, with these cores in /proc/cpuinfo."""
    settings = [s for s in SETTINGS if s.arch == arch and (not precision or s.precision in precision.split(","))]
    if not cpu:
        return settings
    precisions = dict.fromkeys(setting.precision for setting in settings)
    return [Setting(name, core, core, arch) for name in precisions for core in cpu.split(",")]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.arm64.instructions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("models", type=Path, help="folder of ONNX files in float32, and of .tflite files for LiteRT")
    parser.add_argument("--int8", type=Path, help="folder of quantized ONNX and .tflite files")
    parser.add_argument(
        "--builds", default="gcc=build-arm64-gcc", help="cross builds as NAME=FOLDER, separated by commas"
    )
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder for bench_ARCH.json and .md")
    parser.add_argument("--arch", choices=EMULATORS, default="arm64", help="armv7: 32-bit ARM, without other runtimes")
    parser.add_argument("--networks", default="", help="networks, separated by commas, with or without the input size")
    parser.add_argument("--precision", default="", help=f"precisions to run, of {', '.join(PRECISIONS)} (all)")
    parser.add_argument("--cpu", default="", help="cores, instead of those of each precision")
    peers = argparse.BooleanOptionalAction
    parser.add_argument(
        "--peers", action=peers, default=True, help="also run other runtimes; downloads Debian's Python and wheels"
    )
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel jobs; it does not affect the counts")
    parser.add_argument("--compare", metavar="JSON", type=Path, help="compare with an earlier bench_arm64.json")
    parser.add_argument("--functions", metavar="NETWORK", help="list the functions of one network instead")
    parser.add_argument("--loops", metavar="NETWORK", help="list the straight-line code blocks of one network instead")
    options = parser.parse_args()
    if unknown := set(filter(None, options.precision.split(","))) - set(PRECISIONS):
        parser.error(f"--precision: {', '.join(sorted(unknown))} is none of {', '.join(PRECISIONS)}")
    options.peers = options.peers and options.arch == "arm64"
    if options.peers and (strange := set(filter(None, options.cpu.split(","))) - set(emulated.CORES)):
        parser.error(
            f"--cpu: with peers a core is one of {', '.join(emulated.CORES)}, not {', '.join(sorted(strange))}"
        )
    return options


def list_code(builds: Builds, options: argparse.Namespace, settings: list[Setting]) -> int:
    """Implements --functions and --loops."""
    network, listing = (options.functions, functions) if options.functions else (options.loops, loops)
    build, program = next(iter(builds.programs.items()))
    symbols = Symbols(program)
    shown = 0
    for setting in settings:
        folder = options.int8 if setting.precision == "int8" else options.models
        if folder is not None and (model := folder / f"{network}.onnx").exists():
            print(f"{setting.name}, million instructions:")
            print("\n".join(listing(builds.run(build, model, setting), symbols)))
            shown += 1
    if not shown:
        print(f"{network}.onnx is in none of the folders for the chosen precisions.", file=sys.stderr)
    return 0 if shown else 1


class Bench:
    """Yields all counts of a run."""

    def __init__(self, builds: Builds, machine: emulated.Machine | None, folder: Path) -> None:
        self.builds = builds
        self.machine = machine
        self.folder = folder
        self.counts: list[Count] = []
        self.failures: list[str] = []
        self.versions: dict[str, str] = {}

    def network(self, model: Path, setting: Setting) -> list[Count]:
        """Counts mslite's builds and the other runtimes on one network."""
        found = []
        peers = emulated.peers_for(setting.precision) if self.machine else []
        prepared = None
        if peers:
            kind = "int8" if setting.precision == "int8" else "float"
            prepared = emulated.convert(model, self.folder / "models" / kind, peers)
        for runtime in [*self.builds.programs, *peers]:
            try:
                if runtime in self.builds.programs:
                    found.append(self.builds.count(runtime, model, setting))
                elif self.machine is not None and prepared is not None:
                    out = prepared.work / f"{runtime}-{setting.file}.txt"
                    one, self.versions[runtime] = emulated.count_peer(self.machine, runtime, prepared, setting, out)
                    found.append(one)
            except Failed as failed:
                self.failures.append(f"{runtime}, {model.stem}, {setting.name}: {failed}")
        shown = "  ".join(f"{c.runtime} {c.instructions / 1e6:.1f}" for c in found)
        ours = {count.result for count in found if count.runtime.startswith(OWN)}
        doubts = [f"outputs of {c.runtime} differ: {c.result}" for c in found if self.differs(c, setting)]
        doubts += ["outputs of our builds differ"] if len(ours) > 1 else []
        print("  ".join([f"{setting.name:20} {model.stem:24} {shown}", *doubts]), flush=True)
        return found

    @staticmethod
    def differs(count: Count, setting: Setting) -> bool:
        """Returns whether the outputs of a runtime differ. LiteRT's int8 files are other networks than the ONNX files."""
        if count.runtime.startswith(OWN) or (setting.precision == "int8" and count.runtime == "litert"):
            return False
        return float(count.result) < 0.99


def main() -> int:
    options = arguments()
    programs = {name: Path(folder) / "tests/one_inference" for name, _, folder in
                (item.partition("=") for item in options.builds.split(","))}  # fmt: skip
    if absent := [str(program) for program in programs.values() if not program.exists()]:
        print(f"{', '.join(absent)}: not built; `make bench-arm64` builds it.", file=sys.stderr)
        return 1
    settings = chosen_settings(options.precision, options.cpu, options.arch)
    with tempfile.TemporaryDirectory() as temporary:
        builds = Builds(programs, Path(temporary))
        if options.functions or options.loops:
            return list_code(builds, options, settings)
        machine = None
        if options.peers:
            try:
                machine = emulated.prepare(options.out.resolve() / "arm64-peers", list(emulated.PEERS), print)
            except Failed as failed:
                print(f"No peers: {failed}", file=sys.stderr)
        bench = Bench(builds, machine, options.out.resolve() / "arm64-peers")
        for name, reason in (machine.missing if machine else {}).items():
            print(f"{name} cannot be had: {reason}", file=sys.stderr)
        by_network: dict[Path, list[Setting]] = {}
        for setting in settings:
            folder = options.int8 if setting.precision == "int8" else options.models
            for model in sorted(folder.glob("*.onnx")) if folder is not None else []:
                if is_wanted(model.stem, options.networks):
                    by_network.setdefault(model, []).append(setting)
        order = [setting.name for setting in settings]
        options.out.mkdir(parents=True, exist_ok=True)
        text = ""
        with ThreadPoolExecutor(options.jobs) as pool:
            # All precisions of a network use the same converted files, so they run one after the other.
            for found in pool.map(lambda item: [bench.network(item[0], s) for s in item[1]], by_network.items()):
                bench.counts += [count for counts in found for count in counts]
                text = save(bench, order, options.out / f"bench_{options.arch}")
    if not bench.counts:
        print("No network was counted.", *bench.failures, sep="\n", file=sys.stderr)
        return 1
    print(f"\n{text}\nWrote {options.out}/bench_{options.arch}.json and .md")
    return compare(options.compare, bench.counts) if options.compare else 0


def save(bench: Bench, order: list[str], name: Path) -> str:
    """Writes the current counts to `name`.json and .md. Returns the table."""
    bench.counts.sort(key=lambda count: order.index(count.setting))
    counts = [asdict(count) for count in bench.counts]
    result = {"versions": bench.versions, "counts": counts, "failures": bench.failures}
    name.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    text = table(bench.counts) + "".join(f"- not counted: {failure}\n" for failure in bench.failures)
    name.with_suffix(".md").write_text(text)
    return text


def compare(earlier: Path, counts: list[Count]) -> int:
    """Prints the changes. Returns 1 if cache misses of mslite increased."""
    old = [Count(**count) for count in json.loads(earlier.read_text())["counts"]]
    text, worse = comparison(old, counts)
    print(f"\nNew over old ({earlier}):\n\n{text}")
    for line in worse:
        print(f"more L2 misses: {line}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
