"""Extracts the C text of kernels for generated projects: the functions, types and tables that a model needs from
`kernels/`.

Files keep their names and folders below `kernels/` and include each other by relative paths.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import names
from .layout import LayoutError, initializer, layout_of, whole_numbers
from .needed_items import UnknownKernel, kernel_named, kernels
from .write import Writer

__all__ = [
    "LayoutError", "UnknownKernel", "derived_initializer", "derived_size", "derived_values", "kernel_files", "kernels",
    "run_function",
]  # fmt: skip


def kernel_files(kernel_names: Iterable[str], isa: str) -> dict[str, str]:
    """Returns path in the generated project -> C text, for kernels with these names in the kernel table.

    `isa`: instruction set of the target: `scalar` for portable C, `neon`, `neon_dot`, `avx2`; or `micro`, `dsp`, `mve`
    for microcontrollers, which use kernels of `_micro.c` files and portable ones. Raises UnknownKernel.
    """
    wanted = [kernel_named(name, isa) for name in sorted(set(kernel_names))]
    return {f"kernels/{path}": text for path, text in Writer(wanted, isa).texts().items()}


def run_function(kernel_name: str, isa: str) -> tuple[str, str]:
    """Returns the header with a kernel's function and parameter struct, and the name of the function."""
    kernel = kernel_named(kernel_name, isa)
    return f"kernels/{names.run_header(kernel, names.own_unit(kernel, isa), isa)}", names.run_name(kernel, isa)


def derived_initializer(kernel_name: str, derived: bytes, isa: str) -> tuple[str, str]:
    """Returns the type of a kernel's parameter struct, and an initializer with the values of `derived`.

    Fields are named; zeros are omitted; INFINITY and NAN may occur. Raises LayoutError if the size differs from the
    struct's.
    """
    kernel = kernel_named(kernel_name, isa)
    if not kernel.derived:
        raise LayoutError(f"{kernel_name} has no parameter struct")
    unit = names.own_unit(kernel, isa)
    text = initializer(layout_of(kernel.derived, unit.path, unit.isa), derived)
    return names.derived_name(kernel, unit), text


def derived_size(kernel_name: str, isa: str) -> int:
    """Returns the bytes of a kernel's parameter struct on the host."""
    kernel = kernel_named(kernel_name, isa)
    unit = names.own_unit(kernel, isa)
    return layout_of(kernel.derived, unit.path, unit.isa).size if kernel.derived else 0


def derived_values(kernel_name: str, derived: bytes, isa: str) -> dict[str, int]:
    """Returns the integers in a kernel's parameter struct by field, such as `stride` or `layer.terms`; without
    arrays."""
    kernel = kernel_named(kernel_name, isa)
    if not kernel.derived:
        return {}
    unit = names.own_unit(kernel, isa)
    return whole_numbers(layout_of(kernel.derived, unit.path, unit.isa), derived)
