"""Float graph → float graph of the same function that is easier to quantize; which channels a value has, and who reads them."""
