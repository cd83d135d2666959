"""Runs a command-line program: parses its flags and turns exceptions into a message and an exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from mslite.codegen.targets import TargetError
from mslite.converter.argument_parser import CommandParser
from mslite.converter.errors import ConversionError, ExitStatus, ReturnCode, UsageError
from mslite.converter.program_exit import reason_of, running

_BAD_INPUT = (ReturnCode.FILE_ERROR, ReturnCode.GRAPH_FILE_ERROR, ReturnCode.INPUT_PARAMETER_INVALID)


def run_program(
    parser: CommandParser,
    arguments: Sequence[str] | None,
    what: str,
    work: Callable[[argparse.Namespace], None],
) -> int:
    """Calls `work` with the parsed flags and returns the exit status.

    `what` names the work in messages, such as "the code generator". Messages begin with the flag `model`, or with its
    first element if it is a list.
    """
    try:
        given = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has printed the reason
        return ExitStatus.OK if not stop.code else ExitStatus.WRONG_USAGE
    model = given.model[0] if isinstance(given.model, list) else given.model
    try:
        with running(parser.prog, sys.argv[1:] if arguments is None else arguments):
            work(given)
    except (UsageError, TargetError) as error:
        print(error, file=sys.stderr)
        return ExitStatus.WRONG_USAGE
    except ConversionError as error:
        print(error, file=sys.stderr)
        return ExitStatus.BAD_INPUT if error.code in _BAD_INPUT and not error.blockers else ExitStatus.NOT_CONVERTIBLE
    except MemoryError:
        print(f"{model}: there is not enough memory for this model", file=sys.stderr)
        return ExitStatus.BAD_INPUT
    except OSError as error:
        print(f"{parser.prog}: {reason_of(error)}", file=sys.stderr)
        return ExitStatus.BAD_INPUT
    except Exception as error:
        if os.environ.get("MSLITE_VERIFY") == "1":  # developers want the traceback
            raise
        print(
            f"{model}: {what} fails on this model ({type(error).__name__}: {error}); please report it", file=sys.stderr
        )
        return ExitStatus.NOT_CONVERTIBLE
    return ExitStatus.OK
