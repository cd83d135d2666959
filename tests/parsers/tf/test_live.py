"""Every operator's model made and computed by the TensorFlow that is installed, not by the one that recorded it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.parsers.tf import archive
from tests.parsers.tf.test_operators import check

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
pytest.importorskip("tensorflow", reason="TensorFlow is not installed (the extra tf)")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.frameworks]

from tests.parsers.tf.make_models import CASES, made  # noqa: E402


@pytest.mark.parametrize("name", CASES)
def test_model_of_this_tensorflow(name: str, tmp_path: Path) -> None:
    check(name, archive.recorded(made(name, CASES[name]), name), tmp_path)


def test_the_recorded_models_are_these() -> None:
    assert archive.names() == sorted(CASES)
