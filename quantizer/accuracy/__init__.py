"""What quantisation costs: measured, ranked by layer, and kept within a budget by searches."""
