"""The integers of weights: rounding, learned or on calibration data, groups, and the packed forms in a file."""
