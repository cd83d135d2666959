"""Compares the latency and memory of mslite with those of other runtimes, on the same networks and in one interleaved run."""
