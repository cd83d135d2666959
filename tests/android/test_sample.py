"""The sample app's sources compile against declarations of what they use of Android, its resources and manifest pass `aapt`, and
what Gradle would build is named as the files are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ANDROID = ROOT / "android"
MAIN = ANDROID / "sample" / "src" / "main"
API = ANDROID / "mindspore-lite" / "src" / "main" / "java"
FRAMEWORK = Path("/usr/share/android-framework-res/framework-res.apk")


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of R.java, which aapt writes."""
    if shutil.which("aapt") is None or not FRAMEWORK.is_file():
        pytest.skip("there is no aapt, or no android-framework-res")
    folder = tmp_path_factory.mktemp("resources")
    package(MAIN, folder)
    return folder


def package(main: Path, folder: Path) -> None:
    """What the SDK's build does with resources and manifest."""
    # Gradle's plug-in writes the name of the package into the manifest.
    found = re.search(r"namespace '(.+)'", (ANDROID / "sample" / "build.gradle").read_text())
    assert found is not None
    manifest = folder / "AndroidManifest.xml"
    manifest.write_text((main / manifest.name).read_text().replace("<manifest ", f'<manifest package="{found[1]}" ', 1))
    versions = ["--min-sdk-version", "24", "--target-sdk-version", "29"]
    command = ["aapt", "package", "-f", "-m", "-J", folder, "-M", manifest, "-S", main / "res",
               "-I", FRAMEWORK, "-F", folder / "resources.apk", *versions]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def compiled(sources: list[Path], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        "javac",
        "--release",
        "8",
        "-Xlint:all,-options,-serial",
        "-Werror",
        "-implicit:none",
        "-d",
        folder,
        *sources,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def sources_of(*folders: Path) -> list[Path]:
    return [file for folder in folders for file in sorted(folder.rglob("*.java"))]


def test_resources_and_manifest_pass_aapt(resources: Path) -> None:
    assert "no_camera" in (resources / "com" / "mindspore" / "sample" / "R.java").read_text()
    said = subprocess.run(
        ["aapt", "dump", "badging", resources / "resources.apk"], capture_output=True, text=True, check=True
    ).stdout
    assert "package: name='com.mindspore.sample'" in said
    assert "launchable-activity: name='com.mindspore.sample.MainActivity'" in said
    assert "uses-permission: name='android.permission.CAMERA'" in said


def test_a_resource_that_is_not_there_is_found(tmp_path: Path, resources: Path) -> None:
    main = tmp_path / "main"
    shutil.copytree(MAIN, main)
    strings = main / "res" / "values" / "strings.xml"
    strings.write_text(strings.read_text().replace("app_name", "another_name"))
    with pytest.raises(AssertionError, match="app_name"):
        package(main, tmp_path)


@pytest.mark.skipif(not API.is_dir() or shutil.which("javac") is None, reason="there is no Java API, or no javac")
def test_the_sources_compile(resources: Path, tmp_path: Path) -> None:
    sources = sources_of(MAIN / "java", resources, ANDROID / "declarations", API)
    done = compiled(sources, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "com" / "mindspore" / "sample" / "MainActivity.class").is_file()


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no javac")
def test_every_declaration_is_used(tmp_path: Path) -> None:
    text = "".join(file.read_text() for file in sources_of(MAIN / "java", ANDROID / "declarations"))
    for file in sources_of(ANDROID / "declarations"):
        assert len(re.findall(rf"\b{file.stem}\b", text)) > 1, f"{file} is used nowhere"
    done = compiled(sources_of(ANDROID / "declarations"), tmp_path)
    assert done.returncode == 0, done.stderr


def test_gradle_names_what_is_there() -> None:
    settings = (ANDROID / "settings.gradle").read_text()
    modules = re.findall(r"':([\w-]+)'", settings)
    assert modules == ["mindspore-lite", "sample"]
    for module in modules:
        text = (ANDROID / module / "build.gradle").read_text()
        assert (ANDROID / module / "src" / "main" / "AndroidManifest.xml").is_file()
        for name in re.findall(r"consumerProguardFiles '(.+)'|path '(.+)'", text):
            assert (ANDROID / module / "".join(name)).is_file(), name
    library = (ANDROID / "mindspore-lite" / "build.gradle").read_text()
    options = set(re.findall(r"-D(MSLITE_\w+)=", library))
    declared = set(re.findall(r"option\((\w+)", (ROOT / "CMakeLists.txt").read_text()))
    assert options - declared <= {"MSLITE_JAVA"}
