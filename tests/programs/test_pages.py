"""Names in pages: whatever a model calls its tensors and nodes, a page shows it and does nothing else with it."""

from __future__ import annotations

import hashlib
import html.parser
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mslite
from mslite.benchmark.page import render_page
from mslite.converter import cli

ROOT = Path(__file__).parents[2]
BUILD = ROOT / os.environ.get("MSLITE_BUILD", "build")
NAMES = (
    "<!--<script>",
    "</script><script>alert(1)</script>",
    "a&amp;b",
    "\u2028\u2029",
    "'\"`${1}\\",
    "]]>",
    "[/bold]",
)

PARTS = "benchmark/parts.html.j2"
TEMPLATES = [
    PARTS,
    *(
        path.relative_to(ROOT).as_posix()
        for folder in ("benchmark", "check", "codegen", "quantizer")
        for path in sorted((ROOT / folder).rglob("report.html.j2"))
    ),
]


def model(path: Path, operator: str = "Relu") -> Path:
    """A chain of nodes with such names, between tensors with such names."""
    nodes = [
        helper.make_node("MatMul", [NAMES[index], f"w{index}"], [NAMES[index + 1]], name=f"node {NAMES[index]}")
        for index in range(len(NAMES) - 2)
    ]
    nodes.append(helper.make_node(operator, [NAMES[-2]], [NAMES[-1]], name=f"node {NAMES[-1]}"))
    weight = np.eye(4, dtype=np.float32)
    graph = helper.make_graph(
        nodes,
        NAMES[0],
        [helper.make_tensor_value_info(NAMES[0], TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info(NAMES[-1], TensorProto.FLOAT, [1, 4])],
        [numpy_helper.from_array(weight * index, f"w{index}") for index in range(len(NAMES) - 2)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


class Page(html.parser.HTMLParser):
    """What a page shows, and what its scripts hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inside = ""
        self.shown = ""
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        self.shown += "".join(f" {value}" for _, value in attrs)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts[-1] += data
        else:
            self.shown += data


def data_of(text: str, begin: str, end: str) -> object:
    """What a script holds between two texts, which can neither end it nor begin a comment there."""
    data = text[text.index(begin) + len(begin) :]
    data = data[: data.index(end)]
    assert not re.search("[<>&\u2028\u2029]", data)
    return json.loads(data)


def strings_in(value: object) -> set[str]:
    if isinstance(value, dict):
        return {text for item in value.values() for text in strings_in(item)}
    if isinstance(value, list):
        return {text for item in value for text in strings_in(item)}
    return {value} if isinstance(value, str) else set()


@pytest.mark.skipif(not (BUILD / "benchmark" / "benchmark").is_file(), reason="benchmark was not built")
@pytest.mark.parametrize("flag", ["--loopCount=1", "--enableParallelPredict"])
def test_benchmark(flag: str, tmp_path: Path) -> None:
    assert cli.main([f"--modelFile={model(tmp_path / 'net.onnx')}", f"--outputFile={tmp_path / 'net'}"]) == 0
    (tmp_path / "net.ms").rename(tmp_path / "<!--<script>&.ms")
    command = [
        BUILD / "benchmark" / "benchmark",
        "--modelFile=<!--<script>&.ms",
        "--htmlFile=net.html",
        flag,
    ]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "86400"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=60)
    text = (tmp_path / "net.html").read_text()
    assert len(Page(text).scripts) == 3
    known = strings_in(data_of(text, '<script type="application/json" id="result">', "</script>"))
    assert known >= {NAMES[0], NAMES[-1], "<!--<script>&.ms"}
    data = (tmp_path / "<!--<script>&.ms").read_bytes()
    assert known >= {"1970-01-02T00:00:00Z", mslite.__version__, hashlib.sha256(data).hexdigest()}
    assert shlex.join(map(str, command)) in known
    assert {f"node {name}" for name in NAMES[:-2]} <= known or "Parallel" in flag


@pytest.mark.parametrize(("operator", "status"), [("Relu", 0), ("Unknown", 3)])
def test_examination(operator: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = model(tmp_path / "net.onnx", operator)
    assert cli.main([f"--modelFile={path}", "--check", f"--checkReport={tmp_path / 'net.html'}"]) == status
    assert status == 0 or f"node {NAMES[-1]}" in capsys.readouterr().out
    text = (tmp_path / "net.html").read_text()
    assert len(Page(text).scripts) == 2
    known = strings_in(data_of(text, "const graph = ", ";\n"))
    assert f"node {NAMES[0]}" in known
    assert f"node {NAMES[3]}" in known


@pytest.mark.parametrize("template", TEMPLATES)
def test_templates_escape(template: str) -> None:
    """What is put in is escaped: by the engine, or in scripts by `tojson`."""
    text = (ROOT / template).read_text()
    ours = ["{{ style | safe }}", "{{ script | safe }}"]
    found = re.findall(r"{{[^}]*safe[^}]*}}", text)
    assert found == ours[: len(found)]
    assert found or template == PARTS
    for script in re.findall(r"<script.*?</script>", text.replace(ours[1], ""), re.DOTALL):
        assert all("| tojson" in expression for expression in re.findall(r"{[{%].*?[}%]}", script))


@pytest.mark.parametrize("template", TEMPLATES)
def test_tables_can_be_sorted(template: str) -> None:
    """Each has a head and a body, and cells with units say what they are sorted by."""
    text = (ROOT / template).read_text()
    tables = re.findall(r"<table.*?</table>", text, re.DOTALL)
    assert all(table.count("<thead>") == table.count("<tbody>") == 1 for table in tables)
    for table in tables:
        for given, shown in re.findall(r"<td([^>]*)>(.*?)</td>", table, re.DOTALL):
            assert not re.search(r"\| (size|time|percent|grouped)", shown) or "data-value" in given, shown
    if "report" in template and "peers" not in template:
        assert "{{ about(origin) }}" in text


def test_what_pages_share_ends_no_element() -> None:
    for name in ("style.css", "page.js", "charts.js"):
        text = (ROOT / "benchmark" / name).read_text()
        assert "</" not in text
        assert "<!--" not in text
        assert "__" not in text, "a placeholder of the benchmark page"


def test_the_engine_escapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "page.j2").write_text(
        "<p title='{{ x }}'>{{ x }}</p><script>const x = {{ x | tojson }};</script>"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in NAMES:
        text = render_page("package", "page.j2", x=name)
        assert Page(text).shown == f" {name}{name}"
        assert data_of(text, "const x = ", ";</script>") == name
