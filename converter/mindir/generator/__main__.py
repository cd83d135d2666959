"""`python3 -m converter.mindir.generator OUT_DIR` writes the generated source files.

Unchanged files are not written, so that nothing is rebuilt for them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import layouts, names, operands, parameters, schema

EMITTERS = {
    "ops.fbs": schema.emit,
    "op_params.h": parameters.emit,
    "op_names.inc": names.emit,
    "op_operands.inc": operands.emit,
    "op_layouts.inc": layouts.emit,
}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python3 -m converter.mindir.generator OUT_DIR", file=sys.stderr)
        return 2
    out = Path(arguments[0])
    out.mkdir(parents=True, exist_ok=True)
    for name, emit in EMITTERS.items():
        path, text = out / name, emit()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
