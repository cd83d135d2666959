"""Latency of the same networks in mslite and in other runtimes, measured interleaved in one run."""
