"""Lowers a finished graph for one version of MindSpore Lite (`--targetVersion`).

Operators without a kernel in that version are replaced by others, exactly or between casts; the rest is unsupported.
"""
