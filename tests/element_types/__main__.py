"""`python -m tests.element_types`: what does not run, of every ONNX operator in every type that the standard allows it."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict

from .onnx_calls import NO_ORACLE, calls, outcome


def main() -> None:
    counts: Counter[str] = Counter()
    rest: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for call in calls():
        found = outcome(call)
        counts["right" if not found else found if found == NO_ORACLE else "not right"] += 1
        if found:
            rest[call.operator, call.variable, found].append(call.type)
    for (operator, variable, reason), types in rest.items():
        print(f"{operator} {variable} {', '.join(types)}: {reason}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()), file=sys.stderr)


if __name__ == "__main__":
    main()
