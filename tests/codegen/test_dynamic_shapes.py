"""One program for several shapes of its inputs: `inputs_shape` with symbols, and `dynamic_dim_params` with their values."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mslite.codegen.generate import GenerateSettings, Source, generate
from mslite.codegen.targets import target_named
from mslite.converter.cli import main
from mslite.converter.errors import ConversionError

from . import modules

CHECKED = "CFLAGS=-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"

CHECK = r"""
#include <stdio.h>
#include <string.h>
#include "include/model_handle.h"
#define CHECK(condition) do { if (!(condition)) { printf("line %d: %s\n", __LINE__, #condition); return 1; } } while (0)
static unsigned char weights[1000000], expected[1000000];
static size_t Read(const char *folder, const char *name, void *to) {
  char path[1000];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) return 0;
  const size_t size = fread(to, 1, 1000000, file);
  fclose(file);
  return size;
}
int main(int argc, char **argv) {
  const char *folder = argv[argc - 1];
  MSModelHandle model = MSModelCreate();
  const size_t size = Read(folder, "src/model0/net0.bin", weights);
  CHECK(MSModelBuild(model, weights, size, kMSModelTypeMindIR, NULL) == kMSStatusSuccess);
  MSTensorHandleArray inputs = MSModelGetInputs(model), outputs = MSModelGetOutputs(model);
  const int order[] = {3, 0, 5, 1, 5};
  for (int i = 0; i < 5; ++i) {
    const int number = order[i];
    MSShapeInfo info = {4, {1 + number / 3, number % 3 == 0 ? 8 : 11 + number % 3, 16, 3}};
    CHECK(MSModelResize(model, inputs, &info, 1) == kMSStatusSuccess);
    size_t rank;
    CHECK(MSTensorGetShape(inputs.handle_list[0], &rank)[0] == info.shape[0] && rank == 4);
    CHECK(MSTensorGetShape(outputs.handle_list[0], &rank)[0] == info.shape[0]);
    char name[100];
    snprintf(name, sizeof name, "test/data/model0_case%d_input0.bin", number);
    CHECK(Read(folder, name, MSTensorGetMutableData(inputs.handle_list[0])) == MSTensorGetDataSize(inputs.handle_list[0]));
    CHECK(MSModelPredict(model, inputs, &outputs, NULL, NULL) == kMSStatusSuccess);
    snprintf(name, sizeof name, "test/data/model0_case%d_output0.bin", number);
    CHECK(Read(folder, name, expected) == MSTensorGetDataSize(outputs.handle_list[0]));
    const float *want = (const float *)(const void *)expected, *have = MSTensorGetData(outputs.handle_list[0]);
    for (size_t k = 0; k < MSTensorGetDataSize(outputs.handle_list[0]) / 4; ++k) {
      CHECK(want[k] - have[k] < 1e-4f && have[k] - want[k] < 1e-4f);
    }
  }
  MSShapeInfo info = {4, {1, 9, 16, 3}};
  CHECK(MSModelResize(model, inputs, &info, 1) == kMSStatusLiteParamInvalid);
  size_t rank;
  CHECK(MSTensorGetShape(inputs.handle_list[0], &rank)[1] == 13);
  info.shape_num = 3;
  CHECK(MSModelResize(model, inputs, &info, 1) == kMSStatusLiteParamInvalid);
  CHECK(MSModelResize(model, inputs, NULL, 1) == kMSStatusLiteNullptr);
  MSModelDestroy(&model);
  return 0;
}
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A convolutional network with an open batch and height; its second output has a shape that follows them."""
    draw = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array((0.3 * draw.standard_normal(shape)).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Conv", ["r", "w1"], ["d"], pads=[1, 1, 1, 1]),
        helper.make_node("GlobalAveragePool", ["d"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "w2", "b2"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, "h", 16])],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 5]),
            helper.make_tensor_value_info("r", TensorProto.FLOAT, ["n", 8, None, 8]),
        ],
        [weight("w0", 8, 3, 3, 3), weight("b0", 8), weight("w1", 6, 8, 3, 3), weight("w2", 6, 5), weight("b2", 5)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path_factory.mktemp("shapes") / "network.onnx"
    onnx.save(model, path)
    return path


def _project(network: Path, folder: Path, values: str) -> Path:
    config = folder / "micro.cfg"
    config.write_text(
        f"[micro_param]\nenable_micro=true\ntarget=x86\ninputs_shape=x:[d0,3,d1,16]\ndynamic_dim_params={values}\n"
    )
    project = folder / "project"
    assert main(["--fmk=ONNX", f"--modelFile={network}", f"--outputFile={project}", f"--configFile={config}"]) == 0
    return project


def test_each_combination_runs(network: Path, tmp_path: Path) -> None:
    project = _project(network, tmp_path, "d0:[1,2];d1:[8,12~13]")
    done = subprocess.run(
        ["make", "-C", str(project), "test", "build/libnet.a", CHECKED], capture_output=True, text=True
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert "6 of 6 cases as recorded" in done.stdout
    check = tmp_path / "check.c"
    check.write_text(CHECK)
    command = [
        "gcc",
        *CHECKED.removeprefix("CFLAGS=").split(),
        f"-I{project}",
        f"-I{project}/src",
        f"-I{project}/src/include",
    ]
    program = str(tmp_path / "check")
    subprocess.run(
        [*command, str(check), str(project / "build/libnet.a"), "-lm", "-pthread", "-o", program], check=True
    )
    done = subprocess.run([program, str(project)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_weights_are_shared(network: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "many").mkdir()
    one = _project(network, tmp_path / "one", "d0:[1];d1:[8]")
    many = _project(network, tmp_path / "many", "d0:[1~3];d1:[8~16]")
    assert (one / "src/model0/net0.bin").stat().st_size == (many / "src/model0/net0.bin").stat().st_size
    assert "MODEL0_SHAPES 27" in (many / "src/model0/net0.h").read_text()
    assert "MODEL0_SHAPES" not in (one / "src/model0/net0.h").read_text()
    cases = sorted(path.name for path in (many / "test/data").glob("*_input0.bin"))
    assert len(cases) == 24  # the first, the last, and some between


def test_a_model_that_keeps_values_has_one_shape(tmp_path: Path) -> None:
    path = modules.write(modules.counter(), tmp_path)
    source = Source(path, {"in0": (4,)}, more_shapes=({"in0": (4,)},))
    with pytest.raises(ConversionError, match="unsupported for models with variables"):
        generate([source], GenerateSettings(target_named("x86"), tmp_path / "project"))
    assert not (tmp_path / "project").exists()
