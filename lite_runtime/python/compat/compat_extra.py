"""What the extra `compat` installs, asked for when the metadata of mslite is made.

`pip install '.[compat]'` takes mslite-compat from the checkout, this folder. In a wheel for a package index, built with
MSLITE_FOR_INDEX=1, the extra names the distribution there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """The part of `[project]` that depends on where the build runs."""
    if os.environ.get("MSLITE_FOR_INDEX") == "1":
        requirement = f"mslite-compat=={project['version']}"
    else:
        requirement = f"mslite-compat @ {Path(__file__).resolve().parent.as_uri()}"
    return {"optional-dependencies": {"compat": [requirement]}}
