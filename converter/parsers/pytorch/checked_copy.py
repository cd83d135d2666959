"""Writes a checked copy of an untrusted PyTorch archive, with only the parts that a network needs.

`torch.export.load` runs the pickles of an archive, compiles text in it and loads libraries from it. The archive is
written again, so that it cannot be read in two different ways.
"""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

from mslite.converter.archive import ArchiveError, CheckedArchive, checked_archive
from mslite.converter.text_shortening import quoted

from .expressions import UnsafeProgram
from .pickles import UnsafePickle, check_pickle
from .program import checked_program, payloads

_HEADERS = re.compile(r"\.data/(version|serialization_id)|\.format_version|\.storage_alignment|byteorder|version")
_MAX_HEADER = 1 << 10
_LEFT_OUT = ("extra/", "extra_files/")
_LIBRARIES = ("data/aotinductor/", "data/executorch/", "data/mtia", "xl_model_weights/")
_MODEL = "models/model.json"
_OLD_MODEL = "serialized_exported_program.json"
_OLD_PICKLES = re.compile(
    r"serialized_(state_dict\.pt|constants\.pt|example_inputs\.pt|state_dict\.json|constants\.json)"
)
_PICKLES = ("data/sample_inputs/model.pt", "data/weights/model.pt", "data/constants/model.pt")
_LISTS = ("data/weights/model_weights_config.json", "data/constants/model_constants_config.json")
_FIXED = frozenset({"archive_format", "archive_version"})


def write_checked_copy(source: Path, target: Path) -> None:
    """Writes the copy to `target`.

    Raises ArchiveError, UnsafePickle and UnsafeProgram for contents that are not part of a program, ConversionError
    over the memory limit, and OSError.
    """
    size = source.stat().st_size
    with checked_archive(source, size, str(source)) as archive, zipfile.ZipFile(target, "w") as copy:
        root = _root(archive)
        files = _files_of_lists(archive, root, str(source))
        for member in archive.members:
            name = member.removeprefix(root)
            if name.startswith(_LIBRARIES):
                raise UnsafeProgram(f"the member {quoted(member)} is compiled code, which is not loaded")
            if name.startswith(_LEFT_OUT):
                continue
            if name in files and not files[name]:
                length = archive.members[member].file_size
                with archive.opened(member) as reader, copy.open(_entry(root + name, length), "w") as writer:
                    shutil.copyfileobj(reader, writer, 1 << 20)
            else:
                copy.writestr(_entry(root + name), _checked(archive, member, name, files, str(source)))


def _entry(name: str, size: int = 0) -> zipfile.ZipInfo:
    """Returns a new member; the size of a large one must be known before it is written."""
    entry = zipfile.ZipInfo(name)
    entry.file_size = size
    return entry


def _root(archive: CheckedArchive) -> str:
    """Returns the top folder of newer archives, with its slash; empty for older ones."""
    if _OLD_MODEL in archive.members:
        return ""
    roots = {name.partition("/")[0] for name in archive.members}
    if len(roots) != 1 or any("/" not in name for name in archive.members):
        raise ArchiveError("its members are not in one folder")
    return f"{roots.pop()}/"


def _files_of_lists(archive: CheckedArchive, root: str, what: str) -> Mapping[str, bool]:
    """Returns the files of weights and constants, and whether each is a pickle."""
    files: dict[str, bool] = {}
    for name in _LISTS:
        if root + name in archive.members:
            folder = name.rpartition("/")[0]
            try:
                listed = payloads(archive.read(root + name), what)[1]
            except UnsafeProgram as error:
                raise UnsafeProgram(f"the member {quoted(root + name)} cannot be used: {error}") from None
            files.update({f"{folder}/{file}": pickled for file, pickled in listed.items()})
    return files


def _checked(archive: CheckedArchive, member: str, name: str, files: Mapping[str, bool], what: str) -> bytes:
    """Returns the checked contents of a member."""
    try:
        if name in (_MODEL, _OLD_MODEL):
            return checked_program(archive.read(member))
        if name in _LISTS:
            return payloads(archive.read(member), what)[0]
        if name in _PICKLES or _OLD_PICKLES.fullmatch(name) or files.get(name, False):
            return _checked_tensors(archive.read(member), f"{what}, {quoted(member)}")
        if (name in _FIXED or _HEADERS.fullmatch(name)) and archive.members[member].file_size <= _MAX_HEADER:
            return archive.read(member)
    except (UnsafePickle, ArchiveError) as error:
        raise UnsafePickle(f"the member {quoted(member)} is not loaded: {error}") from None
    except UnsafeProgram as error:
        raise UnsafeProgram(f"the member {quoted(member)} cannot be used: {error}") from None
    raise UnsafeProgram(f"the member {quoted(member)} is not part of a program")


def _checked_tensors(data: bytes, what: str) -> bytes:
    """Checks a file of `torch.save`, an archive with one pickle and a member per storage, and writes it again."""
    if not data:
        return data  # torch accepts an empty file
    target = io.BytesIO()
    with checked_archive(io.BytesIO(data), len(data), what) as archive, zipfile.ZipFile(target, "w") as copy:
        root = _root(archive)
        if f"{root}data.pkl" not in archive.members:
            raise UnsafePickle("it does not contain tensors as torch.save writes them")
        storages = check_pickle(archive.read(f"{root}data.pkl"), what)
        for key, size in storages.items():
            found = archive.members.get(f"{root}data/{key}")
            if found is None or found.file_size < size:
                raise UnsafePickle(f"the storage {quoted(key)} is missing or too short")
        for member in archive.members:
            name = member.removeprefix(root)
            is_storage = name.startswith("data/") and name.removeprefix("data/") in storages
            if not (is_storage or name == "data.pkl" or _HEADERS.fullmatch(name)):
                raise UnsafePickle(f"the member {quoted(member)} is not part of a file of tensors")
            copy.writestr(_entry(member), archive.read(member))
    return target.getvalue()
