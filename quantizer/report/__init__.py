"""Reports of a quantization: the HTML page, and the files of `debug_info_save_path`."""
