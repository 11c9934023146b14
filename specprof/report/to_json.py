"""The report as the frozen JSON contract `specprof.report/1`."""

import json

from specprof.analysis.evaluate import Document, to_dict


def render(document: Document) -> str:
    return json.dumps(to_dict(document), ensure_ascii=False, indent=2, allow_nan=False)
