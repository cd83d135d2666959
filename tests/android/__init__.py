"""Checks Android's requirements for libraries and sources, without SDK and NDK."""
