"""Writes the project: the C code of the models, MindSpore Lite's API, example program, tests and build files."""

from mslite.codegen.project.folder import check_folder
from mslite.codegen.project.recorded import Case, record
from mslite.codegen.project.write import ProjectOptions, write_project

__all__ = ["Case", "ProjectOptions", "check_folder", "record", "write_project"]
