"""Tests of how programs start, end and write: interruptions, full disks, lost output."""
