"""The requirement of the extra `compat`, computed when the metadata of mslite is built.

`pip install '.[compat]'` installs mslite-compat from this folder of the checkout. In a wheel that is built with
MSLITE_FOR_INDEX=1, for a package index, the extra names the distribution on the index.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """Returns the part of `[project]` that depends on the build environment."""
    if os.environ.get("MSLITE_FOR_INDEX") == "1":
        requirement = f"mslite-compat=={project['version']}"
    else:
        requirement = f"mslite-compat @ {Path(__file__).resolve().parent.as_uri()}"
    return {"optional-dependencies": {"compat": [requirement]}}
