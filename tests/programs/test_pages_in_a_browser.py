"""The pages as a browser shows them: whole on a screen and on a phone, names told apart, tables sorted, the graph in its window."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mslite.codegen import cli as codegen
from mslite.converter import cli

ROOT = Path(__file__).parents[2]
BENCHMARK = ROOT / os.environ.get("MSLITE_BUILD", "build") / "benchmark" / "benchmark"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PAGES = ("quantized", "examined", "refused", "generated", "measured")
LOADED = ("clients", "rate")
"""Pages of requests at once, which have no table."""
SCREEN, PHONE = (1280, 900), (390, 844)
LAYERS = 12
PREFIX = "a_network_with_a_rather_long_name/of_many_parts/"

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
    pytest.mark.skipif(not BENCHMARK.is_file(), reason="benchmark was not built"),
]


def network(path: Path, last: str = "Relu") -> Path:
    """Products and activations whose names differ in their middle, with a batch that is open."""
    nodes, weights = [], []
    for index in range(LAYERS):
        name = f"{PREFIX}block_{index}/expanded_convolution/projection/batch_normalization"
        weight = np.random.default_rng(index).standard_normal((32, 32)).astype(np.float32) / 6
        weights.append(numpy_helper.from_array(weight, f"w{index}"))
        nodes.append(
            helper.make_node("MatMul", [f"x{2 * index}", f"w{index}"], [f"x{2 * index + 1}"], f"{name}/MatMul")
        )
        kind = last if index >= LAYERS - 2 else "Tanh"
        nodes.append(helper.make_node(kind, [f"x{2 * index + 1}"], [f"x{2 * index + 2}"], f"{name}/Activation"))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 32]) for name in ("x0", f"x{2 * LAYERS}")]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    model = network(folder / "net.onnx")
    (folder / "data").mkdir()
    for number in range(4):
        sample = np.random.default_rng(number).standard_normal((1, 32)).astype(np.float32)
        np.save(folder / "data" / f"{number}.npy", sample)
    (folder / "quant.cfg").write_text(
        "[common_quant_param]\nquant_type=FULL_QUANT\n[accuracy_param]\nprocesses=1\n[data_preprocess_param]\n"
        f"calibrate_path=x0:{folder / 'data'}\ncalibrate_size=4\ninput_type=NPY\n"
    )
    quantized = [f"--configFile={folder / 'quant.cfg'}", f"--quantReport={folder / 'quantized.html'}"]
    assert cli.main([f"--modelFile={model}", f"--outputFile={folder / 'net'}", *quantized]) == 0
    assert cli.main([f"--modelFile={model}", "--check", f"--checkReport={folder / 'examined.html'}"]) == 0
    refused = network(folder / "refused.onnx", "Unknown")
    assert cli.main([f"--modelFile={refused}", "--check", f"--checkReport={folder / 'refused.html'}"]) == 3
    project = [str(model), "--target=cortex-m4", f"--output={folder / 'project'}", "--inputShape=x0:1,32"]
    assert codegen.main(project) == 0
    shutil.copy(folder / "project" / "report.html", folder / "generated.html")
    command = [BENCHMARK, "--modelFile=net.ms", "--htmlFile=measured.html", "--loopCount=2"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    for name, flags in (
        ("clients", ["--parallelTaskNum=1500"]),
        ("rate", ["--requestRate=200", "--parallelTaskNum=40"]),
    ):
        command = [BENCHMARK, "--modelFile=net.ms", f"--htmlFile={name}.html", "--enableParallelPredict", *flags]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    return folder


def seen(folder: Path, name: str, size: tuple[int, int], expression: str) -> object:
    """What a JavaScript expression gives in a page that is shown in a window of a size (pixels)."""
    text = (folder / f"{name}.html").read_text(encoding="utf-8")
    (folder / "probed.html").write_text(
        f"{text}<script>addEventListener('load', () => setTimeout(() => {{ let found; try {{ found = {expression}; }} "
        "catch (error) { found = String(error); } parent.postMessage(JSON.stringify(found), '*'); }, 50));</script>",
        encoding="utf-8",
    )
    (folder / "window.html").write_text(
        "<!doctype html><pre id='found'></pre><script>onmessage = event => "
        "{ document.getElementById('found').textContent = event.data; };</script>"
        f"<iframe src='probed.html' style='border: 0; width: {size[0]}px; height: {size[1]}px'></iframe>",
        encoding="utf-8",
    )
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"]
    command = [str(BROWSER), *flags, "--window-size=1400,1000", (folder / "window.html").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    found = re.search(r"<pre id=\"found\">(.+?)</pre>", shown, re.DOTALL)
    assert found, shown
    return json.loads(html.unescape(found[1]))


@pytest.mark.parametrize("size", [SCREEN, PHONE])
@pytest.mark.parametrize("name", [*PAGES, *LOADED])
def test_nothing_is_cut_off(name: str, size: tuple[int, int], pages: Path) -> None:
    """The page never moves sideways; on a screen, no table or drawing does either."""
    found = seen(
        pages,
        name,
        size,
        "({page: [document.documentElement.scrollWidth, innerWidth], panels: [...document.querySelectorAll('.panel')]"
        ".filter(one => one.scrollWidth > one.clientWidth).length})",
    )
    assert isinstance(found, dict), found
    width, window = found["page"]
    assert window == size[0]
    assert width <= window
    if size == SCREEN:
        assert found["panels"] == 0


@pytest.mark.parametrize("name", ["quantized", "generated", "measured"])
def test_long_names_are_short_and_told_apart(name: str, pages: Path) -> None:
    found = seen(
        pages,
        name,
        SCREEN,
        "[...document.querySelectorAll('.name')].map(one => [one.title, one.textContent, [...one.childNodes]"
        ".map(part => part.className === 'cut' ? '…' : part.textContent).join('')])",
    )
    assert isinstance(found, list)
    shown = {title: short for title, _, short in found}
    assert sum(title.startswith(PREFIX) for title in shown) >= 2 * LAYERS - 2
    assert len(set(shown.values())) == len(shown)
    for title, text, short in found:
        assert text == title, "a copy has the whole name"
        assert len(short) < 50
        assert PREFIX not in short


def test_short_times_and_names_in_the_memory_plan(pages: Path) -> None:
    found = seen(
        pages,
        "measured",
        SCREEN,
        "({times: [0.0061, 0.25, 1.5, 250, 0].map(ms), ticks: [logTicks(0.003, 145), logTicks(0.003, 0.04)],"
        "axis: [0.01, 1, 100].map(round), labels: [...document.querySelectorAll('#memory text.on')].map(one => [one.textContent, one.dataset.label, one.dataset.room])"
        ", profiled: document.getElementById('profiled').textContent})",
    )
    assert isinstance(found, dict), found
    assert found["times"] == ["6.10 µs", "250 µs", "1.50 ms", "250 ms", "0"]
    wide, narrow = found["ticks"]
    assert wide == pytest.approx([0.01, 0.1, 1, 10, 100])
    assert narrow == pytest.approx([0.005, 0.01, 0.02])
    assert found["axis"] == ["10 µs", "1 ms", "100 ms"]
    assert len(found["labels"]) > 5
    for text, label, room in found["labels"]:
        assert bool(text) == (int(room) > 8 or int(room) >= len(label)), "a name is shown where there is room for it"
    assert "compared with a median of" in found["profiled"]


def test_labels_of_a_memory_plan_lie_over_all_boxes(pages: Path) -> None:
    found = seen(
        pages,
        "generated",
        SCREEN,
        "[...document.querySelectorAll('.plan svg > *')].map(one => one.classList.contains('label') ? 'label' : one.tagName)",
    )
    assert isinstance(found, list), found
    assert found.count("label") > 2
    boxes = [place for place, what in enumerate(found) if what == "rect"][:-1]  # the last one frames the peak
    assert found.index("label") > max(boxes)


@pytest.mark.parametrize("name", LOADED)
def test_latencies_are_drawn(name: str, pages: Path) -> None:
    """Over time, each as a dot or the moments of many as lines; and as a distribution, whose bars hold all of them."""
    found = seen(
        pages,
        name,
        SCREEN,
        "({answered: result.answered, over: ['circle', 'line[stroke=\"var(--accent)\"]'].map(kind => "
        "document.querySelectorAll(`#requests ${kind}`).length), bars: [...document.querySelectorAll('#distribution rect')]"
        ".map(one => parseInt(one.textContent)), texts: [...document.querySelectorAll('svg text')].map(one => one.textContent),"
        "outside: [...document.querySelectorAll('circle')].filter(one => one.cy.baseVal.value < 0 || one.cy.baseVal.value > 240"
        "|| one.cx.baseVal.value > 1040).length, about: document.querySelectorAll('#about dd').length})",
    )
    assert isinstance(found, dict), found
    assert sum(found["bars"]) == found["answered"] == (3000 if name == "clients" else 80)
    dots, lines = found["over"]
    assert (dots == 0 and lines > 10) if name == "clients" else (dots, lines) == (80, 0)
    assert found["outside"] == 0
    assert not [text for text in found["texts"] if "NaN" in text or "undefined" in text]
    assert {text[:4] for text in found["texts"]} >= {"p50 ", "p90 ", "p99 "}
    assert found["about"] == 4


@pytest.mark.parametrize("name", PAGES)
def test_every_table_is_sorted_by_every_column(name: str, pages: Path) -> None:
    """Up, down, and as it was; numbers by value, what is missing last."""
    keys = "[...table.tBodies[0].rows].map(row => (row.cells[k].dataset.value ?? row.cells[k].textContent).trim())"
    found = seen(
        pages,
        name,
        SCREEN,
        "[...document.querySelectorAll('table')].flatMap(table => [...table.tHead.rows[0].cells].flatMap((head, k) => {"
        f"const button = head.querySelector('button'); if (!button) return []; const all = [{keys}];"
        f"const said = []; for (let i = 0; i < 3; ++i) {{ button.click(); all.push({keys});"
        "said.push(head.getAttribute('aria-sort')); } return [{all, said, key: button.tagName + button.tabIndex}]; }))",
    )
    assert isinstance(found, list), found
    assert len(found) >= 5
    for column in found:
        was, first, second, again = column["all"]
        assert sorted(filter(None, column["said"])) == ["ascending", "descending"]
        assert column["key"] == "BUTTON0"
        assert again == was
        up, down = (first, second) if column["said"][0] == "ascending" else (second, first)
        known = [key for key in was if key not in ("", "-")]
        for order in (up, down):
            assert sorted(order) == sorted(was)
            assert order[: len(known)] == [key for key in order if key not in ("", "-")]
        numbers = [number(key) for key in up[: len(known)]]
        if None not in numbers:
            assert numbers == sorted(numbers, key=lambda one: one or 0)
            assert [number(key) for key in down[: len(known)]] == numbers[::-1]


def number(text: str) -> float | None:
    try:
        return float(text.replace(" ", "").removesuffix("%"))
    except ValueError:
        return None


@pytest.mark.parametrize("size", [SCREEN, PHONE])
@pytest.mark.parametrize("name", ["examined", "refused"])
def test_the_graph_fits_its_window(name: str, size: tuple[int, int], pages: Path) -> None:
    """At the start, and again by key and button; the overview marks what is in view."""
    inside = (
        "(nodes.every(node => node.x >= left && node.y >= top_ && node.x + W <= left + canvas.clientWidth / scale "
        "&& node.y + H <= top_ + canvas.clientHeight / scale))"
    )
    press = "canvas.dispatchEvent(new KeyboardEvent('keydown', {key: %s}))"
    found = seen(
        pages,
        name,
        size,
        f"(() => {{ const said = [{inside}]; const small = map.toDataURL();"
        f"for (let i = 0; i < 12; ++i) {press % repr('+')}; said.push({inside}, map.toDataURL() === small);"
        f"{press % repr('f')}; said.push({inside}, map.toDataURL() === small);"
        f"document.getElementById('nearer').click(); document.getElementById('fit').click(); said.push({inside});"
        "return {said, states: nodes.map(node => node.state), edges: nodes.map(node => node.in)}; })()",
    )
    assert isinstance(found, dict), found
    assert found["said"] == [True, False, False, True, True, True]
    states, edges = found["states"], found["edges"]
    assert states.count("input") == states.count("output") == 1
    assert states.index("input") in {one for read in edges for one in read}
    assert edges[states.index("output")]
