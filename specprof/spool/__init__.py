"""The append-only spool that every writer shares: requests and rounds outlive a killed process.

Standard library only. A segment file is a header and frames; `write` appends, `read` parses, `assemble` puts
requests together again.
"""

from specprof.spool.assemble import Attempt, read_attempts, read_requests
from specprof.spool.disk import sync, writing_to
from specprof.spool.payload import fields_of
from specprof.spool.read import Segment, read_segment, scan_segment
from specprof.spool.write import SpoolWriter

__all__ = [
    "Attempt",
    "Segment",
    "SpoolWriter",
    "fields_of",
    "read_attempts",
    "read_requests",
    "read_segment",
    "scan_segment",
    "sync",
    "writing_to",
]
