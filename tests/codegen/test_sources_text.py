"""How C text is taken apart and put together again: macros, conditions, declarations, layout."""

from __future__ import annotations

import pytest

from mslite.codegen.sources import locate
from mslite.codegen.sources.conditions import evaluate, simplified
from mslite.codegen.sources.directives import OpenConditions, directives_between
from mslite.codegen.sources.items import make_item
from mslite.codegen.sources.macros import Macro, expand, read_define
from mslite.codegen.sources.needed_items import referenced_names
from mslite.codegen.sources.parsed_file import _Reader
from mslite.codegen.sources.text import realigned, renamed, unwrapped_body
from mslite.codegen.sources.tokens import join, tokenize


def table(*defines: str) -> dict[str, Macro]:
    macros = [read_define(f"#define {define}") for define in defines]
    return {macro.name: macro for macro in macros}


def expanded(text: str, *defines: str) -> str:
    return " ".join(join(expand(tokenize(text), table(*defines))).split())


@pytest.mark.parametrize(
    ("text", "defines", "wanted"),
    [
        ("WIDTH + 1", ("WIDTH 4",), "4 + 1"),
        ("NAME(row)", ("NAME(x) x##_##ISA", "ISA neon"), "row_ISA"),
        (
            "NAME(row)",
            ("PASTE2(a, b) a##_##b", "PASTE(a, b) PASTE2(a, b)", "NAME(x) PASTE(x, ISA)", "ISA neon"),
            "row_neon",
        ),
        ('TEXT(a + "b")', ("TEXT(x) #x",), '"a + \\"b\\""'),
        (
            "ROW(f, int, x * 2)",
            ("ROW(n, t, e) static t n(t x) { return e; }",),
            "static int f(int x) { return x * 2; }",
        ),
        ("APPLY(PLUS, 1)", ("APPLY(f, x) f(x)", "PLUS(x) ((x) + 1)"), "((1) + 1)"),
        ("F + F(1)", ("F(x) x",), "F + 1"),
        ("A", ("A B", "B A"), "A"),
        ("F((1, 2), 3)", ("F(a, b) a b",), "(1, 2) 3"),
    ],
)
def test_macros_are_replaced(text: str, defines: tuple[str, ...], wanted: str) -> None:
    assert expanded(text, *defines) == wanted


def test_macros_that_were_met_are_told() -> None:
    used: set[str] = set()
    expand(tokenize("OUTER(INNER)"), table("OUTER(x) x + DEEP", "INNER 1", "DEEP 2", "OTHER 3"), used)
    assert used == {"OUTER", "INNER", "DEEP"}


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("WIDTH == 4 && !EMULATED", 1),
        ("WIDTH >= 8 || EMULATED", 0),
        ("defined(WIDTH) && !defined NOTHING", 1),
        ("NOTHING", 0),
        ("__ARM_FEATURE_DSP", None),
        ("defined(__ARM_FEATURE_DSP)", None),
        ("WIDTH == 8 && defined(__ARM_FEATURE_DSP)", 0),
        ("WIDTH == 4 || defined(__ARM_FEATURE_DSP)", 1),
        ("(WIDTH + 4) * 2 == 16", 1),
        ("__has_builtin(__builtin_fma) && WIDTH == 4", None),
        ("CHOSEN == 1", None),
    ],
)
def test_conditions(condition: str, value: int | None) -> None:
    assert evaluate(condition, table("WIDTH 4", "EMULATED 0", "CHOSEN 1"), {"CHOSEN"}) == value


def test_open_conditions_lose_what_is_known() -> None:
    known = table("WIDTH 4")
    assert simplified("WIDTH == 4 && defined(__arm__)", known) == "defined(__arm__)"
    assert simplified("defined(__arm__) || WIDTH == 8", known) == "defined(__arm__) || WIDTH == 8"


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        ("typedef struct { int a; float b[4]; } pair;", "type", ("pair",)),
        ("typedef float quad __attribute__((vector_size(16)));", "type", ("quad",)),
        ("typedef void (*row)(const void *x, int n);", "type", ("row",)),
        ("typedef enum { RED, GREEN = 1 << (2), BLUE } color;", "type", ("color", "RED", "GREEN", "BLUE")),
        ("enum { RED, GREEN };", "enum", ("RED", "GREEN")),
        ("static const int table[2][2] = {{1, 2}, {3, 4}};", "variable", ("table",)),
        ("static inline int f(int x) { return x; }", "function", ("f",)),
        ("int f(int x);", "declaration", ("f",)),
        ("extern const int count;", "declaration", ("count",)),
        ("static __attribute__((noinline)) int f(void) { return 0; }", "function", ("f",)),
    ],
)
def test_declarations(text: str, kind: str, names: tuple[str, ...]) -> None:
    item = make_item(text, {})
    assert (item.kind, item.names) == (kind, names)


def test_a_macro_stands_for_its_parts() -> None:
    macros = table("ROWS(n) ROW(add_##n, +) ROW(sub_##n, -)", "ROW(n, o) static int n(int p, int q) { return p o q; }")
    item = make_item("ROWS(i32)", macros)
    assert item.kind == "call"
    assert [part.text for part in item.parts] == ["ROW(add_i32, +)", "ROW(sub_i32, -)"]
    assert [leaf.names for leaf in item.leaves()] == [("add_i32",), ("sub_i32",)]
    assert next(item.leaves()).text == "static int add_i32(int p, int q) { return p + q; }"


@pytest.mark.parametrize(
    ("text", "used", "unused"),
    [
        (
            "static int f(const pair *rows) { return rows->window + helper(rows); }",
            {"pair", "helper"},
            {"rows", "window"},
        ),
        ("static int f(int a) { int top, window = a, rows; return top + window + rows; }", set(), {"window"}),
        (
            "typedef struct { axis height; int64_t window, rows[MOST]; } plan;",
            {"axis", "MOST"},
            {"window", "rows", "height"},
        ),
        (
            "static const row rows[LAST] = {[ADD] = add_int8, [SUB] = sub_int8};",
            {"row", "LAST", "ADD", "add_int8"},
            {"rows"},
        ),
    ],
)
def test_names_that_an_item_uses(text: str, used: set[str], unused: set[str]) -> None:
    found = referenced_names(make_item(text, {}))
    assert used <= found
    assert not unused & found


def test_layout_stays() -> None:
    assert (
        unwrapped_body("static int f(void) {  \\\n    return 1;          \\\n  }")
        == "static int f(void) {\n    return 1;\n  }"
    )
    old = "  y = dot_##suffix(a, b,\n                   c, g(d,\n                        e));"
    new = "  y = dot_i8(a, b,\n                   c, g(d,\n                        e));"
    assert realigned(old, new) == "  y = dot_i8(a, b,\n             c, g(d,\n                  e));"
    assert renamed("#define F(x) \\\n  plan(x);   \\\n  go()", {"plan": "longer_name"}) == (
        "#define F(x)      \\\n  longer_name(x); \\\n  go()"
    )
    assert renamed("MSLITE_ISA_NAME(mslite_row)(x);", {}) == "mslite_row(x);"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # A branch that is always taken ends an open condition, whatever stands behind it.
        ("#if __A\nint a;\n#elif 1\nint b;\n#else\nint c;\n#endif\n", "#if __A\nint a;\n#else\nint b;\n#endif\n"),
        ("#if __A\nint a;\n#elif 1\nint b;\n#elif __B\nint c;\n#endif\n", "#if __A\nint a;\n#else\nint b;\n#endif\n"),
        # One that is never taken is left out.
        ("#if __A\nint a;\n#elif 0\nint b;\n#elif __B\nint c;\n#endif\n", "#if __A\nint a;\n#elif __B\nint c;\n#endif\n"),
        ("#if 0\nint a;\n#elif __A\nint b;\n#elif 0\nint c;\n#else\nint d;\n#endif\n",
         "#if __A\nint b;\n#else\nint d;\n#endif\n"),
        ("#if 1\nint a;\n#elif __A\nint b;\n#else\nint c;\n#endif\n", "int a;\n"),
        ("#if __A\n#if 0\nint a;\n#elif 1\nint b;\n#else\nint c;\n#endif\n#endif\n", "#if __A\nint b;\n#endif\n"),
    ],
)  # fmt: skip
def test_an_open_condition_keeps_what_can_be_taken(text: str, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "read", lambda path: text)
    unit = _Reader("made_up.c", "scalar").read()
    now: OpenConditions = ()
    lines: list[str] = []
    for item in unit.leaves():
        directives, now = directives_between(now, item.opened, unit)
        lines += [*directives, item.text]
    lines += directives_between(now, (), unit)[0]
    assert "\n".join(lines).split() == wanted.split()
