"""Runs with MindSpore, without mslite: exports a network of one call for each public function, layer, operator and Tensor method.

    python mindspore_examples.py FOLDER [PREFIX]      PREFIX: of the names, such as mint. or ops.Conv

The arguments are from the example in the documentation. Writes `NAME.mindir` and `NAME.npz` (inputs `i0`, ..., outputs `o0`, ... of
MindSpore on the CPU), and prints a line `NAME<tab>RESULT` for each: "exported" or the reason of a failure.
"""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import os
import signal
import sys
from pathlib import Path

import mindspore
import numpy as np
from mindspore import Tensor, mint, nn, ops

SECONDS = 60
MODULES = {"mint": mint, "mint.nn": mint.nn, "mint.nn.functional": mint.nn.functional, "mint.linalg": mint.linalg,
           "mint.special": mint.special, "ops": ops, "nn": nn}  # fmt: skip


def subjects():
    """Yields name and object of everything that may have an example."""
    for prefix, module in MODULES.items():
        for name in sorted(getattr(module, "__all__", dir(module))):
            found = getattr(module, name, None)
            if not name.startswith("_") and callable(found):
                yield f"{prefix}.{name}", found
    for name in sorted(dir(Tensor)):
        if not name.startswith("_") and callable(getattr(Tensor, name)):
            yield f"Tensor.{name}", getattr(Tensor, name)


def examples(subject):
    """Yields the sources of each example's statements."""
    try:
        return [
            example.source for example in doctest.DocTestParser().get_examples(inspect.cleandoc(subject.__doc__ or ""))
        ]
    except ValueError:
        return []


def find_call(sources, subject, method):
    """Returns the called object or the name of a Tensor method, and the arguments of the subject's first call; None if it has none."""
    names = {"mindspore": mindspore, "ms": mindspore, "np": np, "nn": nn, "ops": ops, "mint": mint, "Tensor": Tensor}
    for source in sources:
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            found = isinstance(node, ast.Call) and called(node, names, subject, method)
            if found:
                target, first = found
                arguments = [*first, *(evaluated(argument, names) for argument in node.args)]
                return target, arguments, {word.arg: evaluated(word.value, names) for word in node.keywords}
        exec(compile(tree, "example", "exec"), names)
    return None


def evaluated(node, names):
    return eval(compile(ast.Expression(node), "example", "eval"), names)


def called(node, names, subject, method):
    """Returns the called object if it is the subject, and the object of a method."""
    if method:
        if isinstance(node.func, ast.Attribute) and node.func.attr == method:
            try:
                owner = evaluated(node.func.value, names)
            except Exception:
                return None
            return (method, [owner]) if isinstance(owner, Tensor) else None
        return None
    try:
        target = evaluated(node.func, names)
    except Exception:  # examples of mint call functions of ops that do not exist
        spelled = getattr(node.func, "attr", "").removesuffix("_ext")
        return (subject, []) if spelled and spelled == getattr(subject, "__name__", "").removesuffix("_ext") else None
    if inspect.isclass(subject):
        return (target, []) if isinstance(target, subject) else None
    same = target is subject or getattr(target, "__name__", 1) == getattr(subject, "__name__", 2)
    return (target, []) if same and not inspect.isclass(target) else None


def written(value, tensors, kept):
    """Returns Python source for an argument: tensors become arguments of construct, other objects attributes of the network."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return f"x{len(tensors) - 1}"
    if isinstance(value, tuple | list):
        items = ", ".join(written(item, tensors, kept) for item in value)
        return f"[{items}]" if isinstance(value, list) else f"({items},)" if value else "()"
    if value is None or isinstance(value, bool | int | float | str):
        return (
            repr(value)
            if value == value and abs(value if isinstance(value, float) else 0) != float("inf")
            else f"float('{value}')"
        )
    kept.append(value)
    return f"self.kept{len(kept) - 1}"


def network(target, arguments, words, folder):
    """Returns a Cell with that call, and its input tensors."""
    tensors, kept = [], []
    given = [written(value, tensors, kept) for value in arguments]
    given += [f"{word}={written(value, tensors, kept)}" for word, value in words.items()]
    call = (
        f"{given[0]}.{target}({', '.join(given[1:])})"
        if isinstance(target, str)
        else f"self.target({', '.join(given)})"
    )
    operands = "".join(f", x{i}" for i in range(len(tensors)))
    path = Path(folder) / f"network_{os.getpid()}.py"
    path.write_text(
        f"from mindspore import nn\n\n\nclass Network(nn.Cell):\n    def construct(self{operands}):\n        return {call}\n"
    )
    spec = importlib.util.spec_from_file_location("network", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["network"] = module
    spec.loader.exec_module(module)
    made = module.Network()
    made.target = target
    for i, value in enumerate(kept):
        setattr(made, f"kept{i}", value)
    made.set_train(False)
    return made, tensors, path


def flat(results):
    if isinstance(results, tuple | list):
        return [array for item in results for array in flat(item)]
    if isinstance(results, Tensor):
        return [results.float().asnumpy() if results.dtype == mindspore.bfloat16 else results.asnumpy()]
    return [np.asarray(results)]


def export(name, subject, folder):
    """Exports one example. Returns the result."""
    sources = examples(subject)
    if not sources:
        return "no example"
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE, device_target="CPU")
    found = find_call(sources, subject, name.removeprefix("Tensor.") if name.startswith("Tensor.") else "")
    if found is None:
        return "no call of it in its example"
    target, arguments, words = found
    made, tensors, path = network(target, arguments, words, folder)
    try:
        if not tensors:
            return "no tensor among its arguments"
        mindspore.set_context(mode=mindspore.GRAPH_MODE)
        stored = {f"i{i}": array.copy() for i, array in enumerate(flat(tensors))}
        stored.update((f"o{i}", array) for i, array in enumerate(flat(made(*tensors))))
        mindspore.export(made, *tensors, file_name=os.path.join(folder, name), file_format="MINDIR")
        np.savez(os.path.join(folder, f"{name}.npz"), **stored)
    finally:
        path.unlink()
    return "exported"


def export_apart(name, subject, folder):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        try:
            text = export(name, subject, folder)
        except BaseException as error:
            text = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return text or f"ended by signal {status & 127}"


def main(folder, prefix=""):
    folder = os.path.abspath(folder)
    os.chdir(folder)
    for name, subject in subjects():
        if name.startswith(prefix):
            print(f"{name}\t{export_apart(name, subject, folder)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
