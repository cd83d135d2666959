"""Quantized models on 64-bit ARM give the integers of LiteRT's reference kernels, with and without dot products.

A few models stand for all; `make check-slow` runs the others.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.integers import ISAS, availability, int8_models, problems_of
from tests.e2e.models import MODELS, Entry, convert_model

CHOSEN = {
    "coral/keras_lstm_mnist_ptq",
    "coral/mobilenet_v1_025_128_quant",
    "keras_tflite/ds_cnn_kws_int16x8",
    "keras_tflite/mobilenet_v2_035_96_int8_uint8io",
    "keras_tflite/transformer_block_int8",
    "keras_tflite/unet_w8_int8",
}
ENTRIES = [entry for entry in int8_models() if entry.path in CHOSEN]


@pytest.mark.skipif(bool(ENTRIES), reason="the model set is there")
def test_model_set_is_absent() -> None:
    pytest.skip(f"no models at {MODELS}")


@pytest.mark.parametrize("isa", [isa for isa in ISAS if isa.startswith("arm64")])
@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.path) for entry in ENTRIES])
def test_integers_are_those_of_the_reference(entry: Entry, isa: str, tmp_path: Path) -> None:
    if reason := availability(isa):
        pytest.skip(reason)
    problems = problems_of(entry, convert_model(entry, tmp_path), tmp_path, isa)
    assert not problems, "; ".join(problems)
