"""Whether speculative decoding changes what the target would have said: arms held against plain decoding."""
