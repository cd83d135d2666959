"""keep_original_weight: net<i>.bin begins with the weights as the model has them, and other numbers may take their place."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.module_io import load

from . import modules

CHECK = r"""
#include <stdio.h>
#include <string.h>
#include "include/model_handle.h"
static unsigned char data[100000];
int main(int argc, char **argv) { /* PROJECT INPUT OUTPUT EXPORTED */
  FILE *file = fopen(argv[1], "rb");
  const size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  MSModelHandle model = MSModelCreate();
  if (MSModelExportWeight(model, argv[4]) != kMSStatusLiteUninitializedObj) return 1;
  if (MSModelBuild(model, data, size, kMSModelTypeMindIR, NULL) != kMSStatusSuccess) return 2;
  MSTensorHandleArray inputs = MSModelGetInputs(model), outputs = MSModelGetOutputs(model);
  file = fopen(argv[2], "rb");
  void *to = MSTensorGetMutableData(inputs.handle_list[0]);
  const int fits = fread(to, 1, MSTensorGetDataSize(inputs.handle_list[0]), file) == MSTensorGetDataSize(inputs.handle_list[0]);
  fclose(file);
  if (!fits || MSModelPredict(model, inputs, &outputs, NULL, NULL) != kMSStatusSuccess) return 3;
  file = fopen(argv[3], "wb");
  fwrite(MSTensorGetData(outputs.handle_list[0]), 1, MSTensorGetDataSize(outputs.handle_list[0]), file);
  fclose(file);
  if (MSModelExportWeight(model, argv[4]) != kMSStatusSuccess) return 4;
  if (MSModelExportWeight(model, "/no/such/folder/file") != kMSStatusLiteFileError) return 5;
  MSModelDestroy(&model);
  return argc == 5 ? 0 : 6;
}
"""


def _generate(model: Path, folder: Path, changeable: tuple[str, ...] = ()) -> Path:
    settings = GenerateSettings(target_named("x86"), folder, keep_weights=True, changeable=changeable, measure=False)
    generate([Source(model)], settings)
    return folder


def _weights(module: Module) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """The constants of float32 that nodes read, by name."""
    operands = [value for node in module.main.nodes for value in node.inputs]
    return {
        one.name: one.data
        for one in operands
        if one is not None and one.data is not None and one.data.dtype == np.float32
    }


def _places(project: Path) -> dict[str, int]:
    header = (project / "src/model0/weight0.h").read_text()
    offsets = re.findall(r"_WEIGHT(\d+)_OFFSET (\d+)", header)
    names = dict(re.findall(r"_WEIGHT(\d+)_SIZE \d+ /\*\*< \S+ (.*) \*/", header))
    return {names[number]: int(offset) for number, offset in offsets}


def test_other_weights_take_their_place(tmp_path: Path) -> None:
    model = modules.write(modules.floats(), tmp_path)
    project = _generate(model, tmp_path / "project")
    weights = _weights(load(model))
    assert len(weights) == 6
    assert list(_places(project)) == sorted(weights)
    file = (project / "src/model0/net0.bin").read_bytes()
    assert file.startswith(b"".join(weights[name].tobytes() for name in sorted(weights)))

    # The same network with other numbers is the reference.
    module = load(model)
    draw = np.random.default_rng(3)
    other = bytearray(file)
    for node in module.main.nodes:
        for value in node.inputs:
            if value is not None and value.name in weights:
                value.data = (0.2 * draw.standard_normal(weights[value.name].shape)).astype(np.float32)
                at = _places(project)[value.name]
                other[at : at + value.data.nbytes] = value.data.tobytes()
    changed = _generate(modules.write(module, tmp_path, "other"), tmp_path / "changed")
    done = subprocess.run(["make", "-C", str(changed), "test"], capture_output=True, text=True)
    assert "2 of 2 cases as recorded" in done.stdout
    assert (changed / "src/model0/net0.bin").read_bytes() == bytes(other)

    subprocess.run(["make", "-C", str(project), "test", "build/libnet.a"], check=True, capture_output=True)
    (tmp_path / "other.bin").write_bytes(other)
    (tmp_path / "check.c").write_text(CHECK)
    includes = [f"-I{project}", f"-I{project}/src", f"-I{project}/src/include"]
    command = ["gcc", *includes, str(tmp_path / "check.c"), str(project / "build/libnet.a"), "-lm", "-pthread"]
    subprocess.run([*command, "-o", str(tmp_path / "check")], check=True)
    data = changed / "test" / "data"
    names = ["other.bin", data / "model0_case0_input0.bin", "output.bin", "exported.bin"]
    done = subprocess.run([str(tmp_path / "check"), *(str(tmp_path / name) for name in names)])
    assert done.returncode == 0
    expected = np.fromfile(data / "model0_case0_output0.bin", np.float32)
    computed = np.fromfile(tmp_path / "output.bin", np.float32)
    assert np.abs(computed - expected).max() <= 1e-5 * np.abs(expected).max()
    assert (tmp_path / "exported.bin").read_bytes() == bytes(other)


def test_a_table_by_its_name(tmp_path: Path) -> None:
    model = modules.write(modules.looked_up(), tmp_path)
    (name,) = _weights(load(model))
    project = _generate(model, tmp_path / "project", (name,))
    assert list(_places(project)) == [name]
    assert (
        "2 of 2 cases as recorded"
        in subprocess.run(["make", "-C", str(project), "test"], capture_output=True, text=True).stdout
    )


def test_what_cannot_be_replaced_is_named(tmp_path: Path) -> None:
    model = modules.write(modules.looked_up(), tmp_path)
    with pytest.raises(ConversionError, match="nobody is not a float32 weight; the float32 weights of the model are "):
        _generate(model, tmp_path / "project", ("nobody",))
    with pytest.raises(ConversionError, match="quantized ones are not replaceable"):
        _generate(modules.write(modules.stored(), tmp_path), tmp_path / "project")
    assert not (tmp_path / "project").exists()
