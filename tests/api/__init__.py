"""The public interfaces, compared with what MindSpore Lite's programs expect of them."""
