"""What Android asks of a library and its sources, checked without the SDK and the NDK."""
