"""Records made elsewhere → `Request`s: one file, or small folder, per format."""

from specprof.importers.native import Imported, read_native
from specprof.importers.save import import_native

__all__ = ["Imported", "import_native", "read_native"]
