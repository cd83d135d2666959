"""The headers have what the reference of MindSpore Lite's API names."""

from __future__ import annotations

import re

import pytest

from .compare import absent_c, absent_constants, absent_cpp, judge
from .headers import C_FOLDERS, CPP_FOLDERS, read_headers
from .reference import REFERENCE, c_functions, constants, cpp_functions

needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="needs ../shared/reference")


@needs_reference
def test_nothing_is_absent_without_a_reason() -> None:
    text = REFERENCE.read_text()
    missing, _, unused = judge(absent_cpp(text) + absent_constants(text) + absent_c(text))
    assert not missing
    assert not unused, "left_out.yaml names what is there"


@needs_reference
def test_the_page_is_read() -> None:
    text = REFERENCE.read_text()
    assert {str(function) for function in cpp_functions(text)} > {
        "Model::Predict/2..4", "Model::Build/2..3", "MSTensor::CreateTensor/5..7", "Context::SetThreadNum/1",
        "ModelParallelRunner::Init/1..2", "ModelGroup::AddModel/1", "Delegate::Build/1", "RegisterKernel::RegKernel/5",
    }  # fmt: skip
    assert set(c_functions(text)) > {
        "MSContextGetThreadAffinityMode", "MSModelGetOutputByTensorName", "MSTensorGetFormat", "MSTrainCfgSetOptimizationLevel",
    }  # fmt: skip
    assert constants(text)["kLiteInferInvalid"] == 0xFFFFFE0B
    assert len(cpp_functions(text)) > 250
    assert len(constants(text)) > 150


@needs_reference
@pytest.mark.parametrize(
    "name", ["Predict", "SetThreadNum", "GetOutputByTensorName", "RegCustomKernel", "CalMaxSizeOfWorkspace"]
)
def test_a_function_that_goes_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = read_headers(CPP_FOLDERS)
    for functions in declared.functions.values():
        functions.pop(name, None)
    monkeypatch.setattr("tests.api.compare.read_headers", lambda folders: declared)
    assert any(f"::{name}/" in absent for absent in absent_cpp(REFERENCE.read_text()))


def test_every_c_function_has_a_prefix_of_the_reference() -> None:
    names = read_headers(C_FOLDERS).functions[""]
    assert len(names) > 70
    ours = "AsyncRun"  # the handle of a request
    known = re.compile(f"MS(Context|DeviceInfo|Model|Tensor|TrainCfg|Train|RunStep|Export|{ours})")
    assert [name for name in names if not known.match(name)] == []
