"""Which element types each operator runs in: an audit over all front ends, and the tests of its results."""
