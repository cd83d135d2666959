"""What is written about a quantization: the page, and the files of `debug_info_save_path`."""
