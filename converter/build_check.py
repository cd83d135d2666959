"""Checks that the runtime can build the converted file, before the file is renamed to its final name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from pathlib import Path

from mslite import _native
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.frameworks import FmkType
from mslite.converter.memory_limit import shown, try_spend
from mslite.converter.mindir.graph import Module, Value
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.options import Options, SaveType

_OPEN_SIZES = (1, 8, 64, 512)
"""Sizes that are tried for dynamic dimensions, until the runtime can build the file."""


_FAULT = "This is a bug of the converter: please report it. Without fusions (--optimize=none) the model may convert."
_DAMAGED = "The model is damaged, or has operators that this version does not run: check the file, or export it again."
"""For `.ms` sources, whose graph is not parsed from another format."""


class BuildCheck:
    """The check of one result: the writer of the file calls `run`; `notes` returns why a check was skipped."""

    def __init__(self, module: Module, options: Options, framework: FmkType) -> None:
        self._notes: list[str] = []
        self._source, self._target = options.model_file, options.output_path
        self._trains = options.training is not None
        self._blame = _DAMAGED if framework is FmkType.MSLITE else _FAULT
        inputs = module.main.inputs
        self._is_open = any(size < 0 for value in inputs for size in value.shape or ())
        self._reason = _not_checked(module, options)
        self.run: Callable[[Path], None] | None = None if self._reason else self._check

    def notes(self, files: Sequence[Path]) -> list[str]:
        """Returns the notes of the check, for the files that were written."""
        reason = self._reason
        if not reason and len(files) > 1:
            reason = f"its weights are in a separate file, {files[0].name}"
        return [f"whether the runtime builds the result was not checked: {reason}"] if reason else self._notes

    def _check(self, file: Path) -> None:
        """Builds the file, which still has a temporary name. Raises ConversionError if the runtime cannot build it."""
        problem, is_final = self._training(file) if self._trains else self._inference(file)
        if not problem:
            return
        problem = problem.replace(str(file), str(self._target))
        if not is_final:
            self._notes.append(f"whether the runtime builds the result is not known: {problem}")
            return
        raise ConversionError(
            f"{self._source}: the runtime cannot build the result; it was not written. {self._blame}\n{problem}",
            code=ReturnCode.NOT_SUPPORTED,
        )

    def _inference(self, file: Path) -> tuple[str, bool]:
        """Returns why the file cannot be built ("" if it can), and whether this is certain to be a fault of the
        file."""
        found = []
        for size in _OPEN_SIZES if self._is_open else _OPEN_SIZES[:1]:
            found.append(_native.check_build(file, size))
            if not found[-1][0]:
                return "", True
        return next((one for one in found if not one[1]), found[0])

    def _training(self, file: Path) -> tuple[str, bool]:
        from mslite import _codegen  # only training models need it

        try:
            _codegen.step_arena(file, _native.isas(), 1)
        except _codegen.ModelError as error:
            return str(error), not self._is_open
        return "", True


def _not_checked(module: Module, options: Options) -> str:
    """Returns why the check is skipped; "" if it is not."""
    if options.save_type is SaveType.MINDIR:
        return "it is a .mindir file, which is converted to a .ms file before it runs"
    if options.encryption.encrypt_key is not None:
        return "it is encrypted"
    if options.target is not None:
        return f"it is made for {options.target.title}"
    customs = {
        str(getattr(node.op, "type", ""))
        for graph in module.graphs
        for node in graph.nodes
        if isinstance(node.op, Custom)
    }
    if customs:
        return f"no kernels for {', '.join(sorted(customs))} are registered in this process"
    size = _decoded_bytes(value for graph in module.graphs for value in graph.values())
    if not try_spend(size):
        return f"decoding its constants takes {shown(size)}, more than the conversion may use (--memoryLimit)"
    return ""


def _decoded_bytes(values: Iterable[Value]) -> int:
    """Returns the bytes of constants that are decoded to float32 when the file is loaded."""
    return sum(
        4 * prod(value.shape or ())
        for value in values
        if value.is_constant
        and value.is_static
        and (value.quant or value.raw is not None or value.dtype is DataType.FLOAT16)
    )
