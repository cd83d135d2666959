"""`converter_lite --check`: reports unsupported operators and which targets can run a model, without writing a model.

`examine` collects the facts; `text`, `json_text` and `page` print them.
"""

from mslite.check.examine import examine
from mslite.check.facts import Examination
from mslite.check.page import write_check_page
from mslite.check.text import json_text, print_examination

__all__ = ["Examination", "examine", "json_text", "print_examination", "write_check_page"]
