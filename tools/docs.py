"""Write the generated parts of the documentation: `--help` of every command, the columns, the demo's output.

usage: python tools/docs.py [--check]
"""

import inspect
import io
import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).parent.parent


def commands() -> str:
    """The `--help` of every command at 100 columns."""
    os.environ["COLUMNS"] = "102"  # click keeps two of them free
    from specprof.cli import invoke
    from specprof.cli.app import app

    names = [str(command.name) for command in app.registered_commands]
    blocks = []
    for argv in (["--help"], *([name, "--help"] for name in names)):
        out = io.StringIO()
        with redirect_stdout(out):
            invoke(argv)
        text = "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())
        blocks.append(f"```\n$ specprof {' '.join(argv)}\n{text}\n```")
    return "\n\n".join(blocks)


def columns() -> str:
    """Every column of a shard with its type."""
    from specprof.store.schema import SCHEMA

    lines = ["| column | type | may be null |", "|---|---|---|"]
    lines += [f"| `{field.name}` | {field.type} | {'yes' if field.nullable else ''} |" for field in SCHEMA]
    return "\n".join(lines)


def demo() -> str:
    """What `make demo` printed, as kept under docs/measurements."""
    return f"```\n{(ROOT / 'docs' / 'measurements' / 'demo.txt').read_text().strip()}\n```"


def flags() -> str:
    """Every flag with its sentence."""
    from specprof.records import FLAGS

    return "\n".join(["| flag | meaning |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in FLAGS.items())])


PARTS: dict[str, list[tuple[str, Callable[[], str]]]] = {
    "README.md": [("demo", demo)],
    "docs/cli.md": [("commands", commands)],
    "docs/data.md": [("columns", columns)],
    "docs/report.md": [("flags", flags)],
}


def filled(text: str, name: str, content: str) -> str:
    """`text` with what stands between `<!-- name -->` and `<!-- /name -->` replaced."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    return marks.sub(lambda match: f"{match[1]}{content}\n{match[2]}", text)


def main() -> int:
    stale = []
    for file, parts in PARTS.items():
        path = ROOT / file
        old = new = path.read_text()
        for name, part in parts:
            new = filled(new, name, inspect.cleandoc(part()))
        if new != old:
            stale.append(file)
            if "--check" not in sys.argv:
                path.write_text(new)
    for file in stale:
        sys.stderr.write(f"{file} {'is out of date: run `make docs`' if '--check' in sys.argv else 'written'}\n")
    return bool(stale and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
