"""A machine with AVX-512 and VNNI, emulated by Bochs, because QEMU emulates neither.

It boots Debian's kernel from a disk image with the programs in its memory, runs them, and prints to a serial line that is a file here. It
runs about 30 million instructions per second, and boots in a minute, so `run` takes all commands at once.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import tty
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TOOLS = ("bochs", "xorriso", "cpio", "busybox")
_ISOLINUX = (Path("/usr/lib/ISOLINUX/isolinux.bin"), Path("/usr/lib/syslinux/modules/bios/ldlinux.c32"))
_BIOS = (Path("/usr/share/bochs/BIOS-bochs-latest"), Path("/usr/share/bochs/VGABIOS-lgpl-latest"))
_KERNEL_PACKAGE = "linux-image-cloud-amd64"

# Features that Bochs 2.7 announces but that make the kernel fail.
_KERNEL_OPTIONS = (
    "console=ttyS0,115200 quiet loglevel=1 panic=-1 nokaslr mitigations=off no5lvl tsc=reliable lpj=1000000 nopku"
    " cryptomgr.notests clearcpuid=pku,xsaves,xsavec,umip,fsrm,rdpid"
)
_MACHINE = """\
plugin_ctrl: unmapped=1, biosdev=1, speaker=0, extfpuirq=1, parallel=0, serial=1
display_library: term
romimage: file={bios}
vgaromimage: file={vga}
cpu: model=corei7_icelake_u, count=1, ips=50000000, reset_on_triple_fault=0, ignore_bad_msrs=1
memory: guest={megabytes}, host={megabytes}
boot: cdrom
ata0: enabled=1
ata0-master: type=cdrom, path={folder}/boot.iso, status=inserted
com1: enabled=1, mode=file, dev={folder}/serial.txt
clock: sync=none
log: {folder}/bochs.log
panic: action=fatal
error: action=report
info: action=ignore
debug: action=ignore
"""
_INIT = """\
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs none /dev
mount -t proc none /proc
mount -t sysfs none /sys
{commands}
sleep 1 # the serial line is slower than the machine
poweroff -f
"""


@dataclass(frozen=True)
class Result:
    """Exit status and output of a command."""

    code: int
    text: str


def missing() -> str:
    """Returns the missing packages; empty if the machine can be made."""
    absent = [name for name in TOOLS if shutil.which(name) is None]
    absent += [str(path) for path in (*_ISOLINUX, *_BIOS) if not path.is_file()]
    return f"{', '.join(absent)}: not installed (.ci/setup slow)" if absent else ""


def _kernel(folder: Path) -> Path:
    """Returns Debian's kernel from its package, which is not installed."""
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob("boot/vmlinuz-*")):
        depends = subprocess.run(["apt-cache", "depends", _KERNEL_PACKAGE], capture_output=True, text=True, check=True)
        package = depends.stdout.partition("Depends:")[2].split()[0]
        subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True)
        subprocess.run(["dpkg", "-x", str(next(folder.glob("*.deb"))), str(folder)], check=True)
    return next(folder.glob("boot/vmlinuz-*"))


def libraries(program: Path) -> list[Path]:
    """Returns the shared libraries of a program or library, and the loader."""
    text = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    return [Path(match) for match in re.findall(r"(?:=> |^\s*)(/\S+)", text, re.MULTILINE)]


def _memory(folder: Path, commands: Sequence[str], programs: Sequence[Path], files: Mapping[str, Path]) -> None:
    """Writes folder/initrd: programs and libraries at their own paths, files at the given ones, and the commands."""
    root = folder / "root"
    for name in ("bin", "dev", "proc", "sys", "tmp"):
        (root / name).mkdir(parents=True)
    shutil.copy(str(shutil.which("busybox")), root / "bin/busybox")
    own = [path for program in programs for path in (program, *libraries(program))]
    for place, path in [*((str(path), path) for path in own), *files.items()]:
        (root / place.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / place.lstrip("/"))
    lines = [f"echo '#### {i}'\n{command}\necho \"#### end {i} $?\"" for i, command in enumerate(commands)]
    init = root / "init"
    init.write_text(_INIT.format(commands="\n".join(lines)))
    init.chmod(0o755)
    with (folder / "initrd").open("wb") as archive:
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        subprocess.run(
            ["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=names.encode(), stdout=archive, check=True
        )


def _disc(folder: Path, kernel: Path) -> None:
    disc = folder / "disc"
    disc.mkdir()
    for path in _ISOLINUX:
        shutil.copy(path, disc)
    shutil.copy(kernel, disc / "vmlinuz")
    (folder / "initrd").rename(disc / "initrd")
    (disc / "isolinux.cfg").write_text(
        f"default go\nprompt 0\ntimeout 0\nlabel go\nkernel vmlinuz\nappend initrd=initrd {_KERNEL_OPTIONS}\n"
    )
    boot = ["-b", "isolinux.bin", "-c", "boot.cat", "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table"]
    iso = str(folder / "boot.iso")
    subprocess.run(
        ["xorriso", "-as", "mkisofs", "-quiet", "-o", iso, *boot, str(disc)], check=True, capture_output=True
    )


def _emulate(folder: Path, seconds: float, megabytes: int) -> None:
    """Runs Bochs until the machine is switched off.

    Its debugger needs a terminal. Its screen is another terminal, which must be read, or Bochs waits.
    """
    (folder / "bochsrc").write_text(_MACHINE.format(bios=_BIOS[0], vga=_BIOS[1], folder=folder, megabytes=megabytes))
    (folder / "continue").write_text("c\n")  # Debian's Bochs starts in its debugger
    process, console = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm"
        os.execvp("bochs", ["bochs", "-q", "-f", str(folder / "bochsrc"), "-rc", str(folder / "continue")])
    end = time.monotonic() + seconds
    screen, text = -1, b""
    try:
        while time.monotonic() < end:
            for ready in select.select([console] if screen < 0 else [console, screen], [], [], 1)[0]:
                shown = os.read(ready, 1 << 16)
                text += shown if ready == console else b""
            if b"soft power off" in text:
                return
            place = re.search(rb'connected to screen "(/dev/pts/\d+)"', text)
            if place and screen < 0:
                screen = os.open(place[1].decode(), os.O_RDONLY | os.O_NOCTTY)
                tty.setraw(screen)
    except OSError:  # Bochs has ended
        return
    finally:
        os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(console)
        if screen >= 0:
            os.close(screen)


def run(
    commands: Sequence[str],
    programs: Sequence[Path],
    files: Mapping[str, Path],
    folder: Path,
    seconds: float,
    megabytes: int = 1024,
) -> list[Result]:
    """Boots and runs shell commands one after the other. Returns the results of those that ended within `seconds`.

    `programs` keep their absolute paths; `files` maps a path on the machine to a file here; `folder` is for the disk image, and keeps the
    kernel's package between calls.
    """
    kernel = _kernel(folder / "kernel")
    machine = folder / "machine"
    shutil.rmtree(machine, ignore_errors=True)
    machine.mkdir()
    _memory(machine, commands, programs, files)
    _disc(machine, kernel)
    _emulate(machine, seconds, megabytes)
    serial = machine / "serial.txt"
    text = serial.read_text(errors="replace").replace("\r", "") if serial.exists() else ""
    results = []
    for i in range(len(commands)):
        match = re.search(rf"^#### {i}\n(.*)^#### end {i} (\d+)$", text, re.MULTILINE | re.DOTALL)
        if match:
            results.append(Result(int(match[2]), match[1]))
    return results
