"""An installation without the extra `converter` runs models, and says what is missing for the rest."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mslite.extras import CONVERTER_PACKAGES, install_hint

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = f"import sys\nfor name in {sorted(CONVERTER_PACKAGES)}:\n    sys.modules[name] = None\n"
"""Lets these packages be missing: an import of a module that is None raises ModuleNotFoundError."""


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_the_extra_is_what_the_message_knows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extra = {entry.split(">")[0] for entry in project["optional-dependencies"]["converter"]}
    assert {name.replace("protobuf", "google") for name in extra} == CONVERTER_PACKAGES
    assert [entry.split(">")[0] for entry in project["dependencies"]] == ["numpy"]


def test_models_run_without_them(digits: Path) -> None:
    result = python(
        "import numpy as np, mslite\n"
        "model = mslite.Model()\n"
        "model.build_from_file(sys.argv[1], mslite.ModelType.MINDIR_LITE, mslite.Context())\n"
        "inputs = model.get_inputs()\n"
        "inputs[0].set_data_from_numpy(np.zeros(inputs[0].shape, np.float32))\n"
        "print(model.predict(inputs)[0].get_data_to_numpy().shape)\n",
        str(digits),
    )
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "(1, 10)", "")


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from mslite.converter.convert import convert
    from mslite.converter.options import Options

    file = tmp_path_factory.mktemp("digits") / "digits"
    options = Options(
        model_file=ROOT / "examples" / "digits" / "digits.onnx",
        output_file=file,
        input_shapes={"image": (1, 1, 8, 8)},
    )
    convert(options)
    return file.with_suffix(".ms")


def test_the_converter_says_what_is_missing() -> None:
    result = python("import mslite\nmslite.Converter()\n")
    assert result.returncode == 1
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: mslite.Converter: the Python package '")
    assert last.endswith("pip install '.[converter]' in the checkout of mslite")


@pytest.mark.parametrize("program", ["converter_lite", "mslite_show", "mslite_codegen"])
def test_programs_say_what_is_missing(program: str) -> None:
    result = python(f"from mslite import programs\nsys.exit(programs.{program}())\n")
    assert (result.returncode, result.stdout) == (1, "")
    name = program if program == "converter_lite" else program.replace("_", "-")
    assert result.stderr.startswith(f"{name}: the Python package '")
    assert "pip install '.[converter]'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_other_missing_modules_stay_what_they_are() -> None:
    assert install_hint(ModuleNotFoundError("no", name="numpy")) is None


def test_an_installation_names_the_packages(tmp_path: Path) -> None:
    """Not a distribution that anybody may register; those that are installed are left out."""
    package = tmp_path / "mslite"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "extras.py").write_text((ROOT / "lite_runtime/python/mslite/extras.py").read_text())
    metadata = tmp_path / "mslite-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: mslite\nVersion: 1.0\n"
        'Requires-Dist: numpy>=1.26\nRequires-Dist: absent-one>=2; extra == "converter"\n'
        'Requires-Dist: numpy>=1; extra == "converter"\n'
        "Requires-Dist: mslite[converter]; extra == \"crop\"\nRequires-Dist: absent.two>=0.29; extra == 'crop'\n"
    )
    code = "from mslite.extras import install; print(install('converter')); print(install('crop'))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env={"PYTHONPATH": "."}
    )
    assert result.stdout.splitlines() == [
        "pip install 'absent-one>=2'",
        "pip install 'absent.two>=0.29' 'absent-one>=2'",
    ]


def test_nothing_names_a_distribution_that_nobody_keeps() -> None:
    """Whoever registered the name `mslite` would run code on the machines of those who obey our messages."""
    files = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.splitlines()
    wrong = [
        name
        for name in files
        if name.endswith((".py", ".md", ".cc", ".j2", ".html"))
        and Path(name) != Path("tests/programs/test_extras.py")
        and re.search(r"pip install '?mslite", (ROOT / name).read_text(errors="ignore"))
    ]
    assert not wrong


@pytest.mark.parametrize("program", ["mslite_crop", "cropper"])
def test_cropping_explains_itself_without_its_package(program: str) -> None:
    code = f"sys.modules['elftools'] = None\nfrom mslite import programs\nsys.exit(programs.{program}())\n"
    command = [sys.executable, "-c", f"import sys\n{code}"]
    told = subprocess.run([*command, "--help"], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    flags = ["--models=a.ms", "--archive=a.a", "--output=o"] if program == "mslite_crop" else ["--modelFile=a.ms"]
    refused = subprocess.run([*command, *flags], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "'pyelftools' is not installed" in refused.stderr
    assert "pip install" in refused.stderr.splitlines()[0]


CODEGEN_ABSENT = "import sys\nsys.modules['mslite._codegen'] = None\n"
"""As `make demo` builds the package."""


@pytest.mark.parametrize(
    ("program", "arguments"),
    [("mslite_codegen", ["net.ms"]), ("converter_lite", ["--modelFile=examples/digits/digits.onnx", "--check"])],
)
def test_what_needs_the_code_generator_names_what_builds_it(program: str, arguments: list[str]) -> None:
    code = f"{CODEGEN_ABSENT}sys.argv = ['program', *sys.argv[1:]]\nfrom mslite.programs import {program} as run\nsys.exit(run())"
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert "built without the code generator" in line
    assert "`make install`" in line


def test_a_conversion_does_without_the_code_generator(tmp_path: Path) -> None:
    code = f"{CODEGEN_ABSENT}from mslite.converter.cli import main\nsys.exit(main(sys.argv[1:]))"
    flags = ["--modelFile=examples/digits/digits.onnx", f"--outputFile={tmp_path / 'digits'}"]
    result = subprocess.run([sys.executable, "-c", code, *flags], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "digits.ms").is_file()


@pytest.mark.parametrize(
    ("argument", "status", "text"),
    [
        ("--version", 0, "0.1.0"),
        ("--prefix", 1, "does not contain libraries and headers"),
        ("--where", 2, "use --prefix"),
    ],
)
def test_the_package_says_where_it_is(argument: str, status: int, text: str) -> None:
    """A build folder has no prefix; .ci/check_packages builds against that of a wheel."""
    result = subprocess.run(
        [sys.executable, "-m", "mslite", argument], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert result.returncode == status
    assert text in result.stdout + result.stderr
