"""The classes of the Java API, beside those of MindSpore Lite 2.7, and the JNI library, beside the classes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
JAR = ROOT / os.environ.get("MSLITE_BUILD", "build") / "android/mindspore-lite/mindspore-lite-java.jar"
LIBRARY = JAR.with_name("libmindspore-lite-jni.so")

# Class -> its public members as `javap` writes them, without modifiers: constructors as "(arguments)".
WANTED = {
    "com.mindspore.Graph": ["()", "boolean load(String)", "long getGraphPtr()", "void free()"],
    "com.mindspore.Model": [
        "()",
        "(long)",
        "boolean build(Graph, MSContext, TrainCfg)",
        "boolean build(MappedByteBuffer, int, MSContext)",
        "boolean build(MappedByteBuffer, int, MSContext, char[], String, String)",
        "boolean build(String, int, MSContext)",
        "boolean build(String, int, MSContext, char[], String, String)",
        "boolean predict()",
        "boolean runStep()",
        "boolean resize(List<MSTensor>, int[][])",
        "List<MSTensor> getInputs()",
        "List<MSTensor> getOutputs()",
        "MSTensor getInputByTensorName(String)",
        "MSTensor getOutputByTensorName(String)",
        "List<MSTensor> getOutputsByNodeName(String)",
        "List<String> getOutputTensorNames()",
        "boolean loadConfig(String)",
        "boolean updateConfig(String, HashMap<String, String>)",
        "boolean export(String, int, boolean, List<String>)",
        "boolean exportWeightsCollaborateWithMicro(String, boolean, boolean, List<String>)",
        "List<MSTensor> getFeatureMaps()",
        "boolean updateFeatureMaps(List<MSTensor>)",
        "boolean setTrainMode(boolean)",
        "boolean getTrainMode()",
        "boolean setLearningRate(float)",
        "boolean setupVirtualBatch(int, float, float)",
        "void free()",
    ],
    "com.mindspore.MSTensor": [
        "()",
        "(long)",
        "MSTensor createTensor(String, int, int[], ByteBuffer)",
        "MSTensor createTensor(String, Object)",
        "int[] getShape()",
        "int getDataType()",
        "Object getData()",
        "byte[] getByteData()",
        "float[] getFloatData()",
        "int[] getIntData()",
        "long[] getLongData()",
        "boolean setShape(int[])",
        "boolean setData(ByteBuffer)",
        "boolean setData(byte[])",
        "boolean setData(float[])",
        "boolean setData(int[])",
        "boolean setData(long[])",
        "long size()",
        "int elementsNum()",
        "String tensorName()",
        "long getMSTensorPtr()",
        "void free()",
    ],
    "com.mindspore.ModelParallelRunner": [
        "()",
        "boolean init(String)",
        "boolean init(String, RunnerConfig)",
        "boolean predict(List<MSTensor>, List<MSTensor>)",
        "List<MSTensor> getInputs()",
        "List<MSTensor> getOutputs()",
        "long getModelParallelRunnerPtr()",
        "void free()",
    ],
    "com.mindspore.config.MSContext": [
        "()",
        "boolean init()",
        "boolean init(int, int)",
        "boolean init(int, int, boolean)",
        "boolean addDeviceInfo(int, boolean)",
        "boolean addDeviceInfo(int, boolean, int)",
        "boolean addDeviceInfo(AscendDeviceInfo)",
        "void setThreadNum(int)",
        "int getThreadNum()",
        "void setInterOpParallelNum(int)",
        "int getInterOpParallelNum()",
        "void setThreadAffinity(int)",
        "void setThreadAffinity(ArrayList<Integer>)",
        "int getThreadAffinityMode()",
        "ArrayList<Integer> getThreadAffinityCoreList()",
        "void setEnableParallel(boolean)",
        "boolean getEnableParallel()",
        "long getMSContextPtr()",
        "void free()",
    ],
    "com.mindspore.config.TrainCfg": [
        "()",
        "boolean init()",
        "boolean init(String)",
        "boolean addMixPrecisionCfg(boolean, float, int)",
        "long getTrainCfgPtr()",
        "void free()",
    ],
    "com.mindspore.config.RunnerConfig": [
        "()",
        "boolean init()",
        "boolean init(MSContext)",
        "void setWorkersNum(int)",
        "void setConfigInfo(String, HashMap<String, String>)",
        "void setConfigPath(String)",
        "String getConfigPath()",
        "void setDeviceIds(ArrayList<Integer>)",
        "ArrayList<Integer> getDeviceIds()",
        "long getRunnerConfigPtr()",
        "void free()",
    ],
    "com.mindspore.config.AscendDeviceInfo": [
        "()",
        "int getDeviceID()",
        "void setDeviceID(int)",
        "int getDeviceType()",
        "String getPrecisionMode()",
        "void setPrecisionMode(String)",
        "HashMap<Integer, ArrayList<Integer>> getInputShapeMap()",
        "void setInputShapeMap(HashMap<Integer, ArrayList<Integer>>)",
        "ArrayList<Integer> getDynamicBatchSize()",
        "void setDynamicBatchSize(ArrayList<Integer>)",
    ],
    "com.mindspore.config.Version": ["String version()"],
    "com.mindspore.config.MindsporeLite": ["void init()", "long POINTER_DEFAULT_VALUE = 0l"],
    "com.mindspore.config.NativeLibrary": ["void load()"],
    "com.mindspore.config.DeviceType": [
        f"int {name} = {value}" for value, name in enumerate(("DT_CPU", "DT_GPU", "DT_NPU", "DT_ASCEND"))
    ],
    "com.mindspore.config.CpuBindMode": [
        f"int {name} = {value}" for value, name in enumerate(("NO_BIND", "HIGHER_CPU", "MID_CPU"))
    ],
    "com.mindspore.config.ModelType": [
        "int MT_MINDIR = 0",
        "int MT_AIR = 1",
        "int MT_OM = 2",
        "int MT_ONNX = 3",
        "int MT_MINDIR_LITE = 4",
        "int MT_MINDIR_OPT = 4",
    ],
    "com.mindspore.config.DataType": [
        f"int kNumberType{name} = {value}"
        for value, name in enumerate(
            (
                "Bool",
                "Int",
                "Int8",
                "Int16",
                "Int32",
                "Int64",
                "UInt",
                "UInt8",
                "UInt16",
                "Uint32",
                "UInt64",
                "Float",
                "Float16",
                "Float32",
                "Float64",
            ),
            start=30,
        )
    ],
}
MODIFIERS = re.compile(r"\b(public|protected|private|static|final|abstract|native|synchronized)\b ?")
PACKAGES = re.compile(r"\b(?:[a-z]+\.)+(?=[A-Z])")


def javap(*arguments: str) -> str:
    """What `javap` prints of classes of the jar."""
    return subprocess.run(
        ["javap", "-cp", str(JAR), *arguments], capture_output=True, text=True, check=True, timeout=120
    ).stdout


def members(name: str) -> set[str]:
    """The public members of a class and of those it extends, in the form of `WANTED`."""
    text = javap("-public", "-constants", name)
    found = set[str]()
    for line in text.splitlines():
        if not line.endswith(";"):
            continue
        plain = PACKAGES.sub("", MODIFIERS.sub("", line.strip().removesuffix(";")))
        found.add(plain.removeprefix(name.rsplit(".", 1)[1]) if re.match(r"\w+\(", plain) else plain)
    parent = re.search(r" extends (com\.mindspore\.[\w.]+)", text)
    return found | ({one for one in members(parent[1]) if one[0] != "("} if parent else set())


@pytest.mark.parametrize("name", WANTED)
def test_members_of_the_original_are_there(name: str) -> None:
    assert set(WANTED[name]) <= members(name), sorted(set(WANTED[name]) - members(name))


@pytest.mark.parametrize("name", ["Graph", "Model", "MSTensor", "ModelParallelRunner"])
def test_objects_may_be_closed(name: str) -> None:
    assert "void close()" in members(f"com.mindspore.{name}")
    assert "String getLastError()" in members(f"com.mindspore.{name}")


def test_the_library_has_the_native_methods_and_nothing_else() -> None:
    listing = subprocess.run(["jar", "tf", str(JAR)], capture_output=True, text=True, check=True).stdout.split()
    classes = [one.removesuffix(".class").replace("/", ".") for one in listing if one.endswith(".class")]
    wanted = {"JNI_OnLoad"}
    current = ""
    for line in javap("-private", *classes).splitlines():
        if match := re.search(r"\b(?:class|interface) ([\w.$]+)", line):
            current = match[1].replace(".", "_")
        elif match := re.search(r"\bnative .*?(\w+)\(", line):
            wanted.add(f"Java_{current}_{match[1]}")
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", str(LIBRARY)], capture_output=True, text=True, check=True
    ).stdout
    assert {line.split()[0] for line in symbols.splitlines()} == wanted
    assert len(wanted) > 50


def test_classes_are_those_of_java_8() -> None:
    assert "major version: 52" in javap("-v", "com.mindspore.Model")


def test_the_jar_carries_the_libraries_where_the_original_does() -> None:
    listing = subprocess.run(["jar", "tf", str(JAR)], capture_output=True, text=True, check=True).stdout.split()
    folder = f"com/mindspore/lite/linux_{os.uname().machine}"
    names = ("libmindspore-lite.so", "libmindspore-lite-jni.so", "libmindspore-lite-train.so")
    assert {f"{folder}/{name}" for name in names} <= set(listing)
