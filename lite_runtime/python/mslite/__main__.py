"""`python -m mslite`: prints the folder of the C++ libraries and headers, or the version.

python -m mslite --prefix     the folder for CMake (CMAKE_PREFIX_PATH); lib/pkgconfig in it is for pkg-config
python -m mslite --version
"""

from __future__ import annotations

import sys
from pathlib import Path

import mslite


def main(arguments: list[str]) -> int:
    """Returns the exit status: 1 if libraries and headers are not installed, 2 for wrong arguments."""
    if arguments == ["--version"]:
        print(mslite.__version__)
        return 0
    if arguments in (["--help"], ["-h"]):
        print((__doc__ or "").strip())
        return 0
    if arguments != ["--prefix"]:
        print(
            f"python -m mslite: use --prefix, --version or --help, not {' '.join(arguments) or 'no arguments'}",
            file=sys.stderr,
        )
        return 2
    prefix = Path(mslite.__file__).resolve().parent
    if not (prefix / "lib" / "cmake" / "mslite").is_dir():
        print(
            f"python -m mslite: {prefix} does not contain libraries and headers; install them with `make demo` or pip",
            file=sys.stderr,
        )
        return 1
    print(prefix)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
