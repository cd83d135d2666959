"""`python -m mslite`: where the C++ side of this installation is.

python -m mslite --prefix     the folder that CMake (CMAKE_PREFIX_PATH) and pkg-config (lib/pkgconfig in it) are given
python -m mslite --version
"""

from __future__ import annotations

import sys
from pathlib import Path

import mslite


def main(arguments: list[str]) -> int:
    """Returns the exit status: 1 where nothing is installed, 2 for wrong usage."""
    if arguments == ["--version"]:
        print(mslite.__version__)
        return 0
    if arguments in (["--help"], ["-h"]):
        print((__doc__ or "").strip())
        return 0
    if arguments != ["--prefix"]:
        print(
            f"python -m mslite: takes --prefix, --version or --help, not {' '.join(arguments) or 'nothing'}",
            file=sys.stderr,
        )
        return 2
    prefix = Path(mslite.__file__).resolve().parent
    if not (prefix / "lib" / "cmake" / "mslite").is_dir():
        print(
            f"python -m mslite: {prefix} holds no libraries and headers, as a build folder does not; `make demo` or pip installs them",
            file=sys.stderr,
        )
        return 1
    print(prefix)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
