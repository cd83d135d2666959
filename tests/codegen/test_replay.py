"""tools/replay.py and the board's side of it, over the emulated serial line of a Cortex-M4."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mslite.codegen.boards import BOARDS, build_for_board
from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named

from .networks import autoencoder, keywords

SERVER = r"""
#include "replay.h"
#define UART(offset) (*(volatile uint32_t *)(0x40004000u + (offset)))
static uint8_t Read(void) {
  while ((UART(4) & 2u) == 0) continue;
  return (uint8_t)UART(0);
}
static void Write(uint8_t byte) {
  while ((UART(4) & 1u) != 0) continue;
  UART(0) = byte;
}
int main(void) {
  UART(0x10) = 16;
  UART(8) = 3;
  for (;;) ReplayOnce(Read, Write);
}
"""


@pytest.mark.skipif(
    not (shutil.which("qemu-system-arm") and shutil.which("arm-none-eabi-gcc")),
    reason="qemu-system-arm and gcc-arm-none-eabi are needed",
)
def test_replay(tmp_path: Path) -> None:
    models = []
    for name, make in (("keywords", keywords), ("autoencoder", autoencoder)):
        (tmp_path / f"{name}.tflite").write_bytes(make())
        models.append(Source(tmp_path / f"{name}.tflite"))
    project = tmp_path / "project"
    cores = generate(models, GenerateSettings(target_named("cortex-m4"), project)).cores
    (tmp_path / "main.c").write_text(SERVER)
    sources = {name for core in cores for name in core.files if name.endswith(".c")}
    files = [tmp_path / "main.c", project / "test" / "replay.c", *(project / name for name in sorted(sources))]
    options = ["-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
    options += [f"-I{project}", f"-I{project}/src", f"-I{project}/test"]
    image = build_for_board(BOARDS["mps2-an386"], files, options, tmp_path / "server.elf")
    command = ["qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-monitor", "none", "-serial", "pty"]
    with subprocess.Popen(
        [*command, "-kernel", str(image.path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as board:
        try:
            assert board.stdout is not None
            match = re.search(r"/dev/pts/\d+", board.stdout.readline())
            assert match is not None
            replay = [sys.executable, str(project / "tools" / "replay.py"), match[0], "--timeout", "60"]
            done = subprocess.run(replay, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            assert done.stdout.count("as recorded") == 4
            path = project / "test" / "data" / "model1_case0_output0.bin"
            path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])
            done = subprocess.run(replay, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 1
            assert "model 1, case 0: DIFFERS" in done.stdout
        finally:
            board.terminate()
