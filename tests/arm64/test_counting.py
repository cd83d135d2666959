"""The counting plug-in under qemu-aarch64: instructions, bytes and misses that are known beforehand, to the digit; and what is
made of the counts."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.arm64 import emulated
from tests.arm64.counting import Count, Counted, Failed, counted
from tests.arm64.tables import comparison, table

pytestmark = pytest.mark.skipif(
    not (shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc")),
    reason="qemu-user and gcc-aarch64-linux-gnu are needed",
)

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char memory[4 << 20] __attribute__((aligned(4096)));
/* `times` loads or stores of 16 bytes, `step` bytes from each to the next, three instructions each; the marks stand in
 * the same block, so that nothing else is between them. */
#define WALK(access, begin, end)                                                                                \\
  do {                                                                                                          \\
    char *p = memory;                                                                                           \\
    unsigned long n = times;                                                                                    \\
    __asm__ volatile(begin "1: " access " q0, [%0], %2\\n subs %1, %1, #1\\n b.ne 1b\\n" end                       \\
                     : "+r"(p), "+r"(n) : "i"(STEP) : "v0", "cc", "memory");                                    \\
  } while (0)
#define BEGIN "hint #110\\n"
#define END "hint #111\\n"
int main(int argc, char **argv) {
  const unsigned long times = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
  if (strcmp(argv[1], "load") == 0) {
    WALK("ldr", "", "");
    WALK("ldr", BEGIN, END);
  } else if (strcmp(argv[1], "store") == 0) {
    WALK("str", "", "");
    WALK("str", BEGIN, END);
  } else if (strcmp(argv[1], "cores") == 0) {
    char line[200];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (fgets(line, sizeof line, file) != NULL) fputs(line, stdout);
    WALK("ldr", BEGIN, END);
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The program by its step in bytes."""
    folder = tmp_path_factory.mktemp("counted")
    source = folder / "walk.c"
    source.write_text(PROGRAM)
    found = {}
    for step in (16, 64):
        found[step] = folder / f"walk{step}"
        command = ["aarch64-linux-gnu-gcc", "-O1", "-static", f"-DSTEP={step}", str(source), "-o", str(found[step])]
        subprocess.run(command, check=True)
    return found


def walk(program: Path, kind: str, times: int, out: Path) -> Counted:
    return counted([str(program), kind, str(times)], "cortex-a53", out)


@pytest.mark.parametrize("times", [1, 1000])
def test_instructions_and_bytes(programs: dict[int, Path], tmp_path: Path, times: int) -> None:
    load = walk(programs[16], "load", times, tmp_path / "counts")
    assert load.instructions == 3 * times
    assert load.memory[:2] == (16 * times, 0)
    assert sorted(load.by_address.values()) == [times, times, times]
    store = walk(programs[16], "store", times, tmp_path / "counts")
    assert (store.instructions, *store.memory[:2]) == (3 * times, 0, 16 * times)


@pytest.mark.parametrize(
    ("kilobytes", "first", "second"),
    [(16, False, False), (32, False, False), (64, True, False), (256, True, False), (1024, True, True)],
)
def test_misses(programs: dict[int, Path], tmp_path: Path, kilobytes: int, first: bool, second: bool) -> None:
    """The second walk over as much memory finds it in each cache that holds it all, and elsewhere none of it: what was used
    the longest time ago is what comes next."""
    lines = kilobytes * 16
    found = walk(programs[64], "load", lines, tmp_path / "counts")
    # A few lines of the stack may have come in between.
    assert found.memory[2] == lines if first else found.memory[2] <= 8
    assert found.memory[3] == lines if second else found.memory[3] <= 8


def test_neighbors_share_lines(programs: dict[int, Path], tmp_path: Path) -> None:
    found = walk(programs[16], "load", 65536, tmp_path / "counts")  # 1 MB, four loads in each line
    assert found.memory[2:] == (16384, 16384)


def test_a_program_without_marks(programs: dict[int, Path], tmp_path: Path) -> None:
    with pytest.raises(Failed, match="status 0 and no count"):
        walk(programs[16], "neither", 1, tmp_path / "counts")


def test_cores_that_programs_are_told(programs: dict[int, Path], tmp_path: Path) -> None:
    for core, (part, features) in emulated.CORES.items():
        emulated.make_core(tmp_path, core)
        command = [str(programs[16]), "cores", "1"]
        found = counted(command, "cortex-a53", tmp_path / "counts", tmp_path / core)
        assert f"CPU part\t: {part:#x}" in found.output.splitlines()
        assert f"Features\t: {features}" in found.output.splitlines()


COUNT = Count("net", "float32 on cortex-a53", "mslite gcc", 2_000_000, 100, 100, 10_000, 5_000, "0")


def test_the_best_peer() -> None:
    counts = [
        COUNT,
        *(replace(COUNT, runtime=name, instructions=n) for name, n in (("a", 4_000_000), ("b", 1_600_000))),
    ]
    text = table(counts)
    assert "| net | 2.0 | 4.0 | 1.6 | 1.25 |" in text
    assert "told cortex-a72" in text
    assert "best peer" not in table([COUNT])


def test_more_misses_than_before() -> None:
    text, worse = comparison([COUNT], [replace(COUNT, instructions=1_000_000, l2_misses=6_000)])
    assert "| 0.500 | 1.000 | 1.000 | 1.200 |" in text
    assert worse == ["net, float32 on cortex-a53, mslite gcc: 5000 -> 6000"]
    assert comparison([COUNT], [replace(COUNT, l2_misses=5_001)])[1] == []
    assert comparison([replace(COUNT, runtime="ncnn")], [replace(COUNT, runtime="ncnn", l2_misses=9_000)])[1] == []
