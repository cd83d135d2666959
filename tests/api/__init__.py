"""Tests of the public interfaces, compared with MindSpore Lite's API."""
