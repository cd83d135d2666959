"""Python side of the benchmark room: comparison with other runtimes."""
