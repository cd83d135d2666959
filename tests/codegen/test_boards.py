"""The emulated boards: output, exit status, faults, and counts that are exact and repeat."""

import shutil
from pathlib import Path

import pytest

from mslite.codegen.boards import BOARDS, BuildError, run_on_board

pytestmark = pytest.mark.skipif(
    not (shutil.which("qemu-system-arm") and shutil.which("arm-none-eabi-gcc")),
    reason="qemu-system-arm and gcc-arm-none-eabi are needed",
)

STRICT = ["-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]

COUNTED = """
#include "board.h"
static volatile int x[100];
/* Three instructions in each pass, whatever the processor. */
static __attribute__((noinline)) void Loop(unsigned n) {
  __asm__ volatile(".syntax unified\\n1: nop\\n subs %0, %0, #1\\n bne 1b" : "+l"(n) :: "cc");
}
int main(void) {
  board_count_begin();
  Loop(100);
  board_count_end();
  board_count_begin();
  Loop(1100);
  board_count_end();
  x[3] = -7;
  board_printf("%s %d %ld %u %x%c", "numbers", x[3], -2000000000L, 4000000000u, 255u, '\\n');
  return 0;
}
"""


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_output_and_counts(board, tmp_path):
    source = tmp_path / "main.c"
    source.write_text(COUNTED)
    run = run_on_board(board, [source], STRICT)
    assert (run.status, run.output) == (0, "numbers -7 -2000000000 4000000000 ff\n")
    short, long = run.regions
    assert long.instructions - short.instructions == 3000
    assert 300 <= short.by_function["Loop"] < 310
    assert sum(short.by_address.values()) == short.instructions < 315
    assert run_on_board(board, [source], STRICT).regions == run.regions


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_fault_ends_the_program(board, tmp_path):
    source = tmp_path / "main.c"
    source.write_text('int main(void) { __asm__ volatile(".inst.n 0xde00"); return 0; }')
    run = run_on_board(board, [source])
    assert run.status == 101
    assert run.output.startswith("fault at 0x")


def test_memory_that_does_not_fit(tmp_path: Path):
    source = tmp_path / "main.c"
    source.write_text("static volatile char big[300000]; int main(void) { return big[5]; }")
    with pytest.raises(BuildError, match="RAM"):
        run_on_board(BOARDS["microbit"], [source])


def test_stack_use_is_measured(tmp_path: Path):
    source = tmp_path / "main.c"
    source.write_text("""
#include "board.h"
static __attribute__((noinline)) int Deep(int n) {
  volatile char block[1000];
  block[0] = (char)n;
  return block[0];
}
int main(void) {
  board_stack_mark();
  int status = Deep(3) != 3;
  size_t used = board_stack_used();
  return status + (used < 950 || used > 1100);
}""")
    assert run_on_board(BOARDS["mps2-an386"], [source]).status == 0
