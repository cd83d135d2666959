"""What quantization costs: measured, ranked by layer, and kept within a budget by searches."""
