"""`converter_lite --check`: reports unsupported operators and which targets can run a model, without writing a model.

`check_model` collects the facts; `text`, `json_text` and `page` print them.
"""

from mslite.check.checker import check_model
from mslite.check.page import write_check_page
from mslite.check.results import CheckResult
from mslite.check.text import json_text, print_check_result

__all__ = ["CheckResult", "check_model", "json_text", "print_check_result", "write_check_page"]
