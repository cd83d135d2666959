"""What is written about a quantisation: the page, and the files of `debug_info_save_path`."""
