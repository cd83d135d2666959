"""`-DMSLITE_OPERATORS=vision|FILE`: crops the static library of a build to a group of operators.

python -m mslite.cropper.operator_group libmindspore-lite.a vision
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from mslite.converter.mindir.ops import OPERATORS_BY_ID
from mslite.cropper.archive import CropError
from mslite.cropper.crop import FOR_OPERATORS, INSTRUCTION_SETS, OPTIONAL_FEATURES, PARTS, Library, crop
from mslite.cropper.need import FLOAT32, INT8, INT16, OTHER, Need, Needs

_GROUPS = Path(__file__).parent / "groups"
_ALL_KINDS = FLOAT32 | INT8 | INT16 | OTHER
# Operators that the loader itself uses.
_ALWAYS = ("Cast",)


def group_file(group: str) -> Path:
    """Returns the file with the operators of a group. `group` is a name in `groups/` or a file. Raises CropError."""
    own = sorted(path.stem for path in _GROUPS.glob("*.txt"))
    if group in own:
        return _GROUPS / f"{group}.txt"
    if not Path(group).is_file():
        raise CropError(
            f"MSLITE_OPERATORS={group}: is neither a group ({', '.join(('all', *own))}) nor a file with a list of"
            " operators"
        )
    return Path(group)


def operators_of(file: Path) -> dict[int, str]:
    """Reads a file with one operator per line; `#` starts a comment. Returns operator number -> name.

    Raises CropError for unknown names.
    """
    numbers = {cls.declaration.name: number for number, cls in OPERATORS_BY_ID.items()}
    found = {numbers[name]: name for name in _ALWAYS}
    for place, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        name = line.partition("#")[0].strip()
        if not name:
            continue
        if name not in numbers:
            near = difflib.get_close_matches(name, numbers, 3)
            hint = f"; did you mean {' or '.join(near)}?" if near else "; docs/operators.md lists all"
            raise CropError(f"{file}:{place}: '{name}' is not an operator{hint}")
        found[numbers[name]] = name
    return dict(sorted(found.items()))


def crop_to_group(library: Library, operators: dict[int, str], purpose: str) -> Library:
    """Returns the library with all kernels of these operators, the complete loader and all backends."""
    needs = Needs({number: Need(name, _ALL_KINDS) for number, name in operators.items()}, frozenset(PARTS))
    isas = frozenset(INSTRUCTION_SETS)
    return crop(library, needs, purpose, isas, with_engines=True, kind=FOR_OPERATORS, on_demand=OPTIONAL_FEATURES)


def main(arguments: Sequence[str]) -> int:
    """Crops the archive in place; returns the exit status."""
    if len(arguments) != 2:
        print("usage: python -m mslite.cropper.operator_group ARCHIVE GROUP", file=sys.stderr)
        return 2
    archive, group = Path(arguments[0]), arguments[1]
    try:
        library = Library.read(archive.read_bytes(), str(archive))
        cropped = crop_to_group(library, operators_of(group_file(group)), Path(group).name)
    except CropError as error:
        print(error, file=sys.stderr)
        return 1
    archive.write_bytes(cropped.write())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
