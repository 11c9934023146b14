"""The run directory: `run.json`, finished shards and the spool's rest, written and read."""
