"""`python -m tests.element_types [onnx | tflite]`: prints operators and data types that do not run, or that differ from the source runtime.

`primitives` prints the data types of each primitive of MindSpore Lite's schema, or why it does not run.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator

Found = tuple[str, str, str, str]
"""Operator, its type variable or kind of operands, the data type, and the problem ("" for none)."""
_NO_ORACLE = "no oracle"


def _onnx() -> Iterator[Found]:
    from . import onnx_calls

    for call in onnx_calls.calls():
        yield call.operator, call.variable, call.type, onnx_calls.outcome(call)


def _tflite() -> Iterator[Found]:
    from . import tflite_calls

    oracle = tflite_calls.Oracle()
    for call in tflite_calls.calls():
        yield call.operator, call.operands, call.type, tflite_calls.outcome(call, oracle)
    oracle.close()


def _show_primitives() -> None:
    from . import test_every_primitive as every

    reasons = every.EXECUTED | every.NOT_INFERENCE
    for name, (has_rule, kernels, cases) in sorted(every.facts().items()):
        found = f"{'shape rule' if has_rule else 'no shape rule'}, {kernels} kernels, {cases} cases"
        print(f"{name}: {reasons.get(name) or found}")


_FRONT_ENDS = {"onnx": _onnx, "tflite": _tflite}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.element_types", description=__doc__)
    parser.add_argument("front_end", nargs="?", choices=(*_FRONT_ENDS, "primitives"), default="onnx")
    front_end = parser.parse_args().front_end
    if front_end == "primitives":
        _show_primitives()
        return
    counts: Counter[str] = Counter()
    rest: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for operator, variable, wanted, found in _FRONT_ENDS[front_end]():
        counts["right" if not found else found if found == _NO_ORACLE else "not right"] += 1
        if found and found != _NO_ORACLE:
            rest[operator, variable, found].append(wanted)
    for (operator, variable, reason), types in rest.items():
        print(f"{operator} {variable} {', '.join(types)}: {reason}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()), file=sys.stderr)


if __name__ == "__main__":
    main()
