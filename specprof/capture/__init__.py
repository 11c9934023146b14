"""Driving an engine: which job comes when, and how each round reaches the spool."""
