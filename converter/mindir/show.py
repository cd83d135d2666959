"""`mslite-show a.ms [b.ms]`: prints a model, or the differences between two models.

Prints a summary and tables on a terminal, else the text form with one line per value and node. The exit status is 0,
or, with two models, 1 if they differ; 1 if a file cannot be read; 2 for an invalid command line.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mslite.converter.argument_parser import CommandParser
from mslite.converter.program_exit import handle_output_errors, reason_of

from .graph import Graph, Module, Value, is_symbol
from .model_diff import differences
from .module_io import load, to_module
from .ms_reader import read_ms
from .serialization import MindirFormatError
from .text import attributes_text, to_text


@handle_output_errors("mslite-show")
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status."""
    parser = CommandParser("mslite-show", "Prints a .ms model, or the differences between two models.")
    parser.add_argument("model", help="a .ms file")
    parser.add_argument("other", nargs="?", help="a second .ms file to compare with")
    output = parser.add_argument_group("output")
    output.add_argument("--text", action="store_true", help="print the text form also on a terminal")
    output.add_argument("--data", action="store_true", help="print the text form with all constants in full (base64)")
    parser.add_own()
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:
        return 0 if stop.code in (0, None) else 2
    try:
        if options.other:
            return _show_differences(options.model, options.other)
        return _show(options.model, options.text or options.data, options.data)
    except (MindirFormatError, OSError) as error:
        print(f"mslite-show: {_readable(error)}", file=sys.stderr)
        return 1


def _readable(error: Exception) -> str:
    return reason_of(error) if isinstance(error, OSError) else str(error)


def _show(path: str, as_text: bool, with_data: bool) -> int:
    if as_text or not sys.stdout.isatty():
        sys.stdout.write(to_text(load(path), with_data))
        return 0
    meta = read_ms(path)
    module = to_module(meta)
    console = Console()
    console.print(_summary(path, module))
    for graph in module.graphs:
        console.print(_graph_table(graph))
    return 0


def _show_differences(left: str, right: str) -> int:
    found = False
    for line in differences(read_ms(left), read_ms(right)):
        found = True
        print(line)
    if not found:
        print("the models are equal")
    return 1 if found else 0


def _type(value: Value) -> str:
    if value.shape is None:
        return f"{value.dtype.name.lower()}[*]"
    return f"{value.dtype.name.lower()}[{', '.join('?' if is_symbol(dim) else str(dim) for dim in value.shape)}]"


def _summary(path: str, module: Module) -> Table:
    values = {id(value): value for graph in module.graphs for value in graph.values()}
    stored = sum(value.data.nbytes if value.data is not None else len(value.raw or b"") for value in values.values())
    operators = Counter(node.op.name for graph in module.graphs for node in graph.nodes)
    table = Table(title=escape(path), show_header=False, title_justify="left")
    table.add_row("version", escape(module.version))
    for value in module.main.inputs:
        table.add_row("input", escape(f"{value.name}: {_type(value)} {value.format.name}"))
    for value in module.outputs or module.main.outputs:
        table.add_row("output", escape(f"{value.name}: {_type(value)}"))
    table.add_row("operators", ", ".join(f"{name} x{number}" for name, number in operators.most_common()))
    table.add_row("constants", f"{stored:,} bytes")
    return table


def _graph_table(graph: Graph) -> Table:
    table = Table(title=escape(f"graph {graph.name}"), title_justify="left")
    for column in ("#", "operator", "node", "inputs", "outputs", "attributes"):
        table.add_column(column, overflow="fold")
    for index, node in enumerate(graph.nodes):
        inputs = "\n".join(f"{'const ' if value.is_constant else ''}{_type(value)}" for value in node.inputs)
        outputs = "\n".join(_type(value) for value in node.outputs)
        attributes = attributes_text(node.op.declaration.attributes, node.op).strip(" {}")
        table.add_row(str(index), node.op.name, escape(node.name), escape(inputs), escape(outputs), escape(attributes))
    return table


if __name__ == "__main__":
    sys.exit(main())
