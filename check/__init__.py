"""`converter_lite --check`: what of a model can be converted, and what runs where; nothing else is written.

`examine` finds it out, `text`, `json_text` and `page` show it.
"""

from mslite.check.examine import examine
from mslite.check.facts import Examination
from mslite.check.page import write_check_page
from mslite.check.text import json_text, print_examination

__all__ = ["Examination", "examine", "json_text", "print_examination", "write_check_page"]
