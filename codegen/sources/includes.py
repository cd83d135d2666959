"""Finds the headers that a generated file must include."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Set

_FUNCTIONS = (
    "sqrt floor ceil rint round fmod fabs nearbyint trunc exp expm1 log log1p log2 pow sin cos tan asin acos atan atan2 sinh "
    "cosh tanh erf erfc ldexp frexp scalbn fma fmax fmin hypot copysign lrint llrint lround llround cbrt"
)
_STANDARD = {
    "<ctype.h>": r"(is(alpha|digit|space|alnum|upper|lower)|to(upper|lower))",
    "<float.h>": r"(FLT|DBL)_\w+",
    "<math.h>": rf"({_FUNCTIONS.replace(' ', '|')})f?|INFINITY|NAN|HUGE_VALF?|is(nan|inf|finite)|signbit",
    "<stdbool.h>": r"bool|true|false",
    "<stddef.h>": r"NULL|size_t|ptrdiff_t|offsetof",
    "<stdint.h>": r"u?int(8|16|32|64|ptr)_t|U?INT(8|16|32|64)_(MAX|MIN|C)",
    "<stdlib.h>": r"qsort|bsearch|l?labs|abs|strto\w+",
    "<stdio.h>": r"snprintf",
    "<string.h>": r"mem(cpy|set|move|cmp|chr)|str(len|cmp|ncmp|chr|str)",
}
"""Headers of the standard library -> the names that they define."""
_PROCESSOR = {
    "<arm_acle.h>": r"__(?!attribute__)[a-z]\w+",
    "<arm_mve.h>": r"(u?int|float)\d+x\d+(x\d)?_t|mve_pred16_t|v[a-z0-9]+q(_[a-z0-9]+)*",
    "<arm_neon.h>": r"(u?int|float|poly)\d+x\d+(x\d)?_t|v[a-z0-9]+(_[a-z0-9]+)*_[suf](8|16|32|64)|float16_t",
    "<immintrin.h>": r"_mm\w+|__m\d+\w*",
}
"""Headers for processors -> the names that they define. They are included only if the kernel's source includes them."""
_PATTERNS = {name: re.compile(pattern) for name, pattern in (_STANDARD | _PROCESSOR).items()}

BASIC = ("<stdbool.h>", "<stddef.h>", "<stdint.h>")
"""Headers that kernel.h includes."""


def system_headers(words: Iterable[str], in_source: Set[str]) -> list[str]:
    """Returns the headers of the compiler and the standard library that define the names in `words`."""
    known = list(words)
    return sorted(
        name
        for name, pattern in _PATTERNS.items()
        if (name in _STANDARD or name in in_source) and any(pattern.fullmatch(word) for word in known)
    )


def include_lines(path: str, own: str | None, system: Iterable[str], project: Iterable[str]) -> list[str]:
    """Returns the #include directives of the file `path`: its own header, system headers, headers of the project."""
    folder = posixpath.dirname(path) or "."
    quoted: Callable[[str], str] = lambda header: f'#include "{posixpath.relpath(header, folder)}"'  # noqa: E731
    groups = [[quoted(own)] if own else [], [f"#include {name}" for name in system], sorted(map(quoted, project))]
    lines: list[str] = []
    for group in groups:
        if group:
            lines += ([""] if lines else []) + group
    return lines
