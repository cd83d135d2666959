"""Runtimes cut down to what some models need: `mslite-crop`, and `cropper` with the flags of MindSpore Lite's tool."""
