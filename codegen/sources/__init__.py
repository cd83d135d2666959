"""The C text that a generated project carries: of the kernels' own sources, what its kernels need, and nothing else.

Files keep their names and folders, below `kernels/`; they include each other by relative paths.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import names
from .layout import LayoutError, initializer, layout_of, whole_numbers
from .reach import UnknownKernel, kernel_named, kernels
from .write import Writer

__all__ = [
    "LayoutError", "UnknownKernel", "derived_initializer", "derived_size", "derived_values", "kernel_files", "kernels",
    "run_function",
]  # fmt: skip


def kernel_files(kernel_names: Iterable[str], isa: str) -> dict[str, str]:
    """Path in the generated project -> C text, for kernels by their names in the table.

    `isa`: what MSLITE_ISA is for the target: `scalar` for portable C, `neon`, `neon_dot`, `avx2`, or `micro`, `dsp` and
    `mve`, with which kernels of `_micro.c` files and portable ones go together. UnknownKernel: there is no such kernel.
    """
    wanted = [kernel_named(name, isa) for name in sorted(set(kernel_names))]
    return {f"kernels/{path}": text for path, text in Writer(wanted, isa).texts().items()}


def run_function(kernel_name: str, isa: str) -> tuple[str, str]:
    """The header that declares a kernel's function and its struct of derived numbers, and the function's name."""
    kernel = kernel_named(kernel_name, isa)
    return f"kernels/{names.run_header(kernel, names.own_unit(kernel, isa), isa)}", names.run_name(kernel, isa)


def derived_initializer(kernel_name: str, derived: bytes, isa: str) -> tuple[str, str]:
    """The struct type of a kernel's derived numbers, and `derived` as its initializer.

    Fields are named, zeros left out; INFINITY and NAN may occur. LayoutError: the bytes are not those of the struct.
    """
    kernel = kernel_named(kernel_name, isa)
    if not kernel.derived:
        raise LayoutError(f"{kernel_name} has no derived numbers")
    unit = names.own_unit(kernel, isa)
    text = initializer(layout_of(kernel.derived, unit.path, unit.isa), derived)
    return names.derived_name(kernel, unit), text


def derived_size(kernel_name: str, isa: str) -> int:
    """Bytes of a kernel's derived numbers on the host."""
    kernel = kernel_named(kernel_name, isa)
    unit = names.own_unit(kernel, isa)
    return layout_of(kernel.derived, unit.path, unit.isa).size if kernel.derived else 0


def derived_values(kernel_name: str, derived: bytes, isa: str) -> dict[str, int]:
    """The integers among a kernel's derived numbers, by field: `stride`, `layer.terms`; arrays are left out."""
    kernel = kernel_named(kernel_name, isa)
    if not kernel.derived:
        return {}
    unit = names.own_unit(kernel, isa)
    return whole_numbers(layout_of(kernel.derived, unit.path, unit.isa), derived)
