"""Cropped runtimes: what stays, what is refused, and that results are the same."""
