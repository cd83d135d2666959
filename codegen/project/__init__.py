"""The project around the generated core: handles, benchmark, tests, build files."""

from mslite.codegen.project.folder import check_folder
from mslite.codegen.project.recorded import Case, record
from mslite.codegen.project.write import ProjectOptions, write_project

__all__ = ["Case", "ProjectOptions", "check_folder", "record", "write_project"]
