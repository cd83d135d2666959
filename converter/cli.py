"""`converter_lite`: the command-line program of the converter."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import mslite
from mslite.converter.command_line import canonical, joined
from mslite.converter.config_file import read_config
from mslite.converter.convert import convert, stage_names
from mslite.converter.errors import ConversionError, ExitStatus, ReturnCode, UsageError
from mslite.converter.flag_values import FlagError, options_of
from mslite.converter.flags import split_arguments, takes
from mslite.converter.process_limit import limit_process
from mslite.converter.program_exit import handle_output_errors, reason_of, running
from mslite.converter.registry.plugins import plugins
from mslite.converter.summary import print_summary, stages
from mslite.converter.text_shortening import quoted, readable, shortened
from mslite.converter.usage import usage
from mslite.extras import install_hint

_CODE_TEXTS = {
    ReturnCode.ERROR: "Common error code.",
    ReturnCode.FILE_ERROR: "Invalid file.",
    ReturnCode.MEMORY_FAILED: "Fail to create memory.",
    ReturnCode.NOT_SUPPORTED: "Fail to support.",
    ReturnCode.GRAPH_FILE_ERROR: "Failed to verify graph file.",
    ReturnCode.NOT_FIND_OP: "Failed to find operator.",
    ReturnCode.INVALID_OP_ATTRIBUTE: "Failed to check invalid operator attribute.",
    ReturnCode.SHAPE_ERROR: "Failed to infer shape.",
    ReturnCode.INPUT_PARAMETER_INVALID: "Invalid input param by user.",
}

_ORIGINAL_ITEMS = frozenset(
    {
        "data type", "encryption", "fmk", "fp16", "infer", "inputDataFormat", "inputShape", "optimize", "optimizeTransformer",
        "outputDataFormat", "saveType", "trainModel",
    }
)  # fmt: skip
"""Checks for which MindSpore Lite prints `Init <item> failed.` after the reason."""


def _warn(text: str) -> None:
    print(f"warning: {readable(text)}", file=sys.stderr)


@handle_output_errors("converter_lite")
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status. Errors that a user can cause are printed, not raised."""
    words = list(joined(sys.argv[1:] if arguments is None else arguments, takes))
    try:
        given = split_arguments(words)
    except UsageError as error:
        print(f"{error}\nconverter_lite --help shows the flags", file=sys.stderr)
        print(f"Flags PreInit failed. Ret: {ReturnCode.INPUT_PARAMETER_INVALID.value}")
        return ExitStatus.WRONG_USAGE
    if "help" in given:
        print(usage())
        return ExitStatus.OK
    if "version" in given:
        print(f"converter_lite (mslite) {mslite.__version__}")
        return ExitStatus.OK
    try:
        if arguments is None:  # not if another program calls this function: the limit is for the whole process
            limit_process(given)
        with running("converter_lite", words):
            if code_generation_is_enabled(given):
                _generate(given)
                print(f"CONVERT RESULT SUCCESS:{ExitStatus.OK.value}")
                return ExitStatus.OK
            if _asks_to_check(given):
                return _check(given)
            status = _convert(given)
        if status is not ExitStatus.OK:
            return status
    except UsageError as error:
        print(readable(str(error)), file=sys.stderr)
        if isinstance(error, FlagError) and error.item in _ORIGINAL_ITEMS:
            print(f"Init {error.item} failed.", file=sys.stderr)
        print(f"Flags Init failed. Ret: {ReturnCode.INPUT_PARAMETER_INVALID.value}")
        return ExitStatus.WRONG_USAGE
    except ConversionError as error:
        print(error, file=sys.stderr)
        print(f"Convert failed. Ret: {_CODE_TEXTS[error.code]}")
        return ExitStatus.NOT_CONVERTIBLE if error.blockers or _is_refusal(error) else ExitStatus.BAD_INPUT
    except MemoryError:
        print(f"{given.get('modelFile', 'configuration')}: not enough memory for this model", file=sys.stderr)
        print(f"Convert failed. Ret: {_CODE_TEXTS[ReturnCode.MEMORY_FAILED]}")
        return ExitStatus.BAD_INPUT
    except OSError as error:
        print(f"converter_lite: {reason_of(error)}", file=sys.stderr)
        print(f"Convert failed. Ret: {_CODE_TEXTS[ReturnCode.FILE_ERROR]}")
        return ExitStatus.BAD_INPUT
    except ModuleNotFoundError as error:
        advice = install_hint(error)
        if advice is None:
            raise
        print(f"converter_lite: {advice}", file=sys.stderr)
        print(f"Convert failed. Ret: {_CODE_TEXTS[ReturnCode.ERROR]}")
        return ExitStatus.BAD_INPUT
    except Exception as error:
        if os.environ.get("MSLITE_VERIFY") == "1":  # developers want the traceback
            raise
        kind = type(error).__name__
        print(
            f"{given.get('modelFile', 'configuration')}: the converter failed with an internal error ({kind}: "
            f"{shortened(str(error))}); please report it",
            file=sys.stderr,
        )
        print(f"Convert failed. Ret: {_CODE_TEXTS[ReturnCode.ERROR]}")
        return ExitStatus.NOT_CONVERTIBLE
    print(f"CONVERT RESULT SUCCESS:{status.value}")
    return status


def _asks_to_check(given: Mapping[str, str]) -> bool:
    """Returns whether --check is on. Raises FlagError for invalid values, and for flags that need --check."""
    for name in ("check", "json"):
        if given.get(name, "off") not in ("on", "off"):
            raise FlagError(f"INPUT ILLEGAL: {name} must be on|off, not {quoted(given[name])}", name)
    if given.get("check") == "on":
        return True
    for name in ("json", "checkReport"):
        if given.get(name, "off") != "off":
            raise FlagError(f"INPUT ILLEGAL: {name} needs --check", name)
    return False


def _check(given: Mapping[str, str]) -> int:
    """Prints which operators are unsupported and which targets can run the model; writes no model.

    Raises the same errors as a conversion.
    """
    from mslite.check import check_model, json_text, print_check_result, write_check_page

    options = options_of({"outputFile": "model", **given}, _warn)
    found = check_model(options)
    if given.get("checkReport"):
        write_check_page(Path(given["checkReport"]), found, options.source_files)
    if given.get("json") == "on":
        print(json_text(found))
    else:
        print_check_result(found)
    return ExitStatus.OK if found.converts else ExitStatus.NOT_CONVERTIBLE


def _convert(given: Mapping[str, str]) -> ExitStatus:
    """Converts the model; with --infer runs the result, with --verify compares it with the source model."""
    options = options_of(given, _warn)
    with plugins(options.plugins, options.config):
        with stages(len(stage_names(options))) as (progress, samples):
            report = convert(options, progress, samples)
        print_summary(report)
        if options.run_after_conversion:
            from mslite.converter.verify.report import infer_once

            infer_once(report.files[0], options.encryption)
        if given.get("verify", "off") != "off":
            from mslite.converter.verify.report import verify_conversion

            if not verify_conversion(options, report, given["verify"]):
                print(f"Convert failed. Ret: {_CODE_TEXTS[ReturnCode.ERROR]}")
                return ExitStatus.NOT_CONVERTIBLE
    return ExitStatus.OK


def code_generation_is_enabled(given: Mapping[str, str]) -> bool:
    """Returns enable_micro of the configuration file. Raises UsageError if it is neither true nor false."""
    if not given.get("configFile"):
        return False
    keys = read_config(Path(given["configFile"])).get("micro_param", {"enable_micro": "false"})
    value = keys.get("enable_micro", "")
    if not value:
        raise UsageError(
            "INPUT MISSING: [micro_param] needs enable_micro=true (generates C) or enable_micro=false (writes a "
            "model file)"
        )
    found = canonical(value, ("true", "false"))
    if found is None:
        raise UsageError(f"INPUT ILLEGAL: enable_micro must be true|false, not {quoted(value)}")
    return found == "true"


def _generate(given: Mapping[str, str]) -> None:
    """Generates C instead of a model file."""
    from mslite.codegen.generate import generate
    from mslite.codegen.report import print_report
    from mslite.codegen.settings import read_settings

    sources, settings = read_settings(given, _warn)
    generated = generate(sources, settings)
    print_report(generated.figures)
    for note in generated.notes:
        print(f"note        {note}")


def _is_refusal(error: ConversionError) -> bool:
    return error.code in (ReturnCode.NOT_SUPPORTED, ReturnCode.NOT_FIND_OP)


if __name__ == "__main__":
    sys.exit(main())
