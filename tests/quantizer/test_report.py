"""The page about a quantization: it stands alone, names every layer, shows ranges, and takes any name for what it is."""

from __future__ import annotations

import html.parser
from pathlib import Path

import numpy as np
import pytest

from mslite.benchmark.page import milliseconds, percent, size
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import SYMBOL_LIMIT
from mslite.converter.mindir.module_copy import copy_module
from mslite.quantizer.calibration.histogram import Histogram
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.precision.choices import Precision
from mslite.quantizer.report.costs import Cost, constant_bytes, layer_costs, open_batch, total, untimed, with_batch_one
from mslite.quantizer.report.page import Configuration, Page, write_page
from mslite.quantizer.report.report_data import picture, ratio
from mslite.quantizer.settings import quantizer_settings
from tests.quantizer.networks import image_network, node_of, samples
from tests.quantizer.test_budget import SETTINGS, Case

HOSTILE = '<script>alert("x")</script>&'


class Reader(html.parser.HTMLParser):
    """Collects tags, what they refer to, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "data")]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder = tmp_path_factory.mktemp("report")
    module = image_network()
    node_of(module, "conv").name = HOSTILE
    settings = quantizer_settings(
        {
            "common_quant_param": {"quant_type": "FULL_QUANT"},
            "accuracy_param": {"budget": "sqnr:45", "report": str(folder / "page.html"), "processes": "1"},
        }
    )
    report = quantize(module, settings, samples(module, 4), checkpoint=folder / "calibration.npz")
    assert any("accuracy budget sqnr >= 45 dB" in note for note in report.notes)
    assert not list(folder.glob("mslite-search*")), "the journal of a finished search goes"
    reader = Reader()
    reader.feed((folder / "page.html").read_text(encoding="utf-8"))
    return reader


def test_the_page_loads_nothing(page: Reader) -> None:
    assert page.links == []
    assert not {"link", "img", "iframe"} & set(page.tags)
    assert page.tags.count("svg") >= 5


def test_every_layer_is_named(page: Reader) -> None:
    text = "".join(page.text)
    for name in (HOSTILE, "depthwise", "add", "dense"):
        assert name in text


def test_the_choices_are_compared(page: Reader) -> None:
    text = " ".join(page.text)
    for name in ("float", "int8", "int16 activations", "this result", "predicted time", "clipped"):
        assert name in text


def test_integers_are_smaller() -> None:
    case = Case()
    costs = layer_costs(case.module, case.calibration, case.choices, SETTINGS)
    conv = costs["conv"]
    assert conv[Precision.FLOAT].constant_bytes == 4 * (16 * 27 + 16) == constant_bytes(node_of(case.module, "conv"))
    assert conv[Precision.INT8].constant_bytes == 16 * 27 + 4 * 16
    everything = total(costs, case.choices)
    assert everything.constant_bytes < total(costs, {}).constant_bytes / 3
    assert everything.milliseconds is not None
    assert everything.milliseconds > 0
    assert set(costs) == {node.name for node in case.module.main.nodes}


def opened(axis: int) -> Case:
    """A network that was calibrated and has a size of its input open."""
    case = Case()
    symbol = {8: SYMBOL_LIMIT - 8, 1: SYMBOL_LIMIT - 1}
    for value in case.module.main.values():
        if value.shape is not None and not value.is_constant and axis < len(value.shape):
            size = value.shape[axis]
            value.shape = (*value.shape[:axis], symbol.get(size, size), *value.shape[axis + 1 :])
    return case


def test_an_open_batch_is_taken_as_one() -> None:
    case = opened(0)
    shapes = {value.name: value.shape for value in case.module.main.values()}
    assert open_batch(case.module) == ["x"]
    costs = layer_costs(case.module, case.calibration, case.choices, SETTINGS)
    assert untimed(costs) == []
    for choices in ({}, case.choices):
        assert (total(costs, choices).milliseconds or 0) > 0
    assert {value.name: value.shape for value in case.module.main.values()} == shapes
    closed = Case().module
    assert with_batch_one(closed) is closed


def test_a_time_that_is_not_known_is_no_zero(tmp_path: Path) -> None:
    """A page says of which layers, and why."""
    case = opened(1)
    costs = layer_costs(case.module, case.calibration, case.choices, SETTINGS)
    assert set(untimed(costs)) >= {"conv", "depthwise", "pool"}
    assert total({"conv": costs["conv"]}, {}).milliseconds is None
    unknown = Configuration("float", Cost(1, None), 0.0, 1.0, 200.0, 0.0)
    page = Page("m", "MAX_MIN", 1, 1, [], [unknown] * 2, [], untimed=["conv (its sizes are open)"], layers=1)
    write_page(page, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "unknown" in text
    assert "They do not include 1 of 1 layers" in text
    assert "conv (its sizes are open)" in text
    assert "0 µs" not in text


def test_a_page_says_what_it_compares_and_that_integers_are_slower(tmp_path: Path) -> None:
    choices = [
        Configuration(name, Cost(1, time), 0.0, 1.0, 50.0, 0.0)
        for name, time in (("float", 0.003), ("this result", 0.006))
    ]
    write_page(Page("m", "MAX_MIN", 12, 4, [], choices, [], are_unseen=True), tmp_path / "page.html")
    text = " ".join((tmp_path / "page.html").read_text().split())
    assert "Range method MAX_MIN, 12 calibration samples; compared with the float model on 4 other samples" in text
    assert "slower than the float model: 2.0 times its time" in text
    assert "6.0 µs" in text
    write_page(Page("m", "MAX_MIN", 12, 4, [], choices[::-1], []), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "on 4 of them" in text
    assert "slower than" not in text


def test_timing_a_layer_leaves_the_module_as_it_was() -> None:
    case = Case()
    users = {value.name: len(value.users) for value in case.module.main.values()}
    names = [node.name for node in copy_module(case.module).main.nodes]
    layer_costs(case.module, case.calibration, case.choices, SETTINGS)
    assert {value.name: len(value.users) for value in case.module.main.values()} == users
    assert [node.name for node in case.module.main.nodes] == names


def test_a_picture_shows_where_the_values_are() -> None:
    histogram = Histogram()
    histogram.add(np.array([0.0] * 100 + [1.0, 7.9], np.float32))
    shown = picture(histogram, 0.0, 4.0)
    assert shown is not None
    assert (shown.low, shown.high) == (0.0, pytest.approx(7.9))
    assert shown.bars[0] == 1.0
    assert shown.bars[-1] > 0
    assert sum(bar > 0 for bar in shown.bars) == 3
    assert shown.place(shown.range_high) == pytest.approx(4 / 7.9)
    assert picture(Histogram(), 0.0, 0.0) is None


def test_numbers_are_readable() -> None:
    assert (size(40), size(1536), size(3 << 20)) == ("40 B", "1.5 KiB", "3.0 MiB")
    assert (milliseconds(None), milliseconds(0.012), milliseconds(3.14159)) == ("-", "12 µs", "3.14 ms")
    assert milliseconds(0.0) == milliseconds(0.00004) == "< 0.1 µs", "no time is 0"
    assert (milliseconds(0.0004), milliseconds(0.0031)) == ("0.4 µs", "3.1 µs")
    assert (percent(None), percent(0.01234), percent(0.5)) == ("-", "1.23 %", "50.0 %")
    assert ratio(20.0) == pytest.approx(0.1)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    choices = [Configuration("float", Cost(1, 1.0), 0.0, 1.0, 200.0, 0.0)] * 2
    with pytest.raises(ConversionError, match="cannot be written"):
        write_page(Page("m", "MAX_MIN", 1, 1, [], choices, []), tmp_path / "file" / "page.html")
