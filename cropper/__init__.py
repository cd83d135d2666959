"""Reduces the runtime to what given models need: `mslite-crop`, and `cropper` with the flags of MindSpore Lite's
tool."""
