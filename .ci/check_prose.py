"""Finds phrases that docs/glossary.md lists as to be avoided, in pages, messages and comments.

    python .ci/check_prose.py

`.ci/prose_allowed.txt` lists exceptions, one per line: path pattern, phrase or `*`, and reason, separated by tabs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = "docs/glossary.md"
SUFFIXES = (".md", ".py", ".c", ".cc", ".h", ".inc", ".java", ".sh", ".cmake", ".j2", ".js", ".html")


def phrases(glossary: str) -> dict[str, str]:
    """Returns phrase -> replacement, from the table 'Phrases to avoid'."""
    table = glossary.split("## Phrases to avoid")[1]
    found = {}
    for line in table.splitlines():
        if line.startswith("| `"):
            avoided, better = (cell.strip() for cell in line.strip("|").split("|")[:2])
            found.update(dict.fromkeys(re.findall("`([^`]+)`", avoided), better))
    return found


def pattern(phrase: str) -> re.Pattern[str]:
    """Returns a pattern for the phrase as whole words, across line breaks and comment marks.

    It is case-sensitive if the phrase starts with a capital letter.
    """
    words = r"(?:\s|[#*/|])+".join(re.escape(word) for word in phrase.split())
    return re.compile(rf"\b{words}\b", 0 if phrase[0].isupper() else re.IGNORECASE)


def main() -> int:
    better = phrases((ROOT / GLOSSARY).read_text(encoding="utf-8"))
    patterns = {phrase: pattern(phrase) for phrase in better}
    allowed = []
    for line in (ROOT / ".ci/prose_allowed.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            path, phrase, _reason = line.split("\t")
            allowed.append((path, phrase))
    used: Counter[tuple[str, str]] = Counter()
    faults = []
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in files:
        if not name.endswith(SUFFIXES) or name == GLOSSARY or (ROOT / name).is_symlink():
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        for phrase, expression in patterns.items():
            for found in expression.finditer(text):
                rule = next((rule for rule in allowed if fnmatch(name, rule[0]) and rule[1] in ("*", phrase)), None)
                if rule is not None:
                    used[rule] += 1
                    continue
                line = text.count("\n", 0, found.start()) + 1
                faults.append(f"{name}:{line}: '{phrase}': write: {better[phrase]}")
    faults += [
        f".ci/prose_allowed.txt: unused exception: {path} {phrase}"
        for path, phrase in allowed
        if not used[path, phrase]
    ]
    print(*faults, sep="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
