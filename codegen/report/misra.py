"""Counts violations of MISRA C:2012 rules in the generated C, with cppcheck's addon."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mslite.codegen.core import Core

MANDATORY = frozenset(
    {"9.1", "13.6", "17.3", "17.4", "17.6", "19.1", "21.13", "21.17", "21.18", "21.19", "21.20", "22.2", "22.4", "22.5", "22.6"}
)  # fmt: skip
"""Mandatory rules: MISRA C:2012 allows no deviations from them."""


@dataclass(frozen=True)
class Misra:
    """Result of the check. `findings`: number of violations by rule; `reason`: why nothing was checked, empty if it
    was."""

    tool: str = ""
    findings: dict[str, int] = field(default_factory=dict)
    reason: str = ""

    @property
    def total(self) -> int:
        return sum(self.findings.values())

    @property
    def mandatory(self) -> int:
        """Number of violations of mandatory rules."""
        return sum(count for rule, count in self.findings.items() if rule in MANDATORY)

    def text(self) -> str:
        """One line for the report."""
        if self.reason:
            return f"not checked: {self.reason}"
        return (
            f"{self.total} violations of {len(self.findings)} rules, {self.mandatory} of mandatory rules ({self.tool})"
        )


NOT_CHECKED = Misra(reason="use --misra, or run `make misra` in the project")


def check_misra(cores: Sequence[Core]) -> Misra:
    """Runs cppcheck on the generated C of all models, without the arrays of constants, in a temporary folder."""
    program = shutil.which("cppcheck")
    if program is None:
        return Misra(reason="cppcheck is not installed")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {path: text for core in cores for path, text in core.files.items()}
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        checked = sorted(path for path in files if path.endswith(".c") and not re.search(r"/weight\d+\.c$", path))
        command = [
            program,
            "--addon=misra",
            "--std=c99",
            "--enable=style",
            "--quiet",
            "--template={id}",
            "-Isrc",
            *checked,
        ]
        try:
            version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            return Misra(reason=f"cppcheck fails: {type(error).__name__}")
    if done.returncode != 0:
        return Misra(reason=f"cppcheck fails with status {done.returncode}")
    found = Counter(re.findall(r"^misra-c2012-([\d.]+)$", done.stderr, re.MULTILINE))
    if not found and done.stderr.strip():
        return Misra(reason=f"cppcheck reports {done.stderr.strip().splitlines()[0][:200]}")
    return Misra(version.stdout.strip(), dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))))
