"""Rewrites a finished graph for one version of MindSpore Lite (`--targetVersion`): what its runtime lacks is written in what it
has, exactly or between casts; what is left is unsupported."""
