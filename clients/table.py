"""Writes the table of docs/adapters.md from the rows that the adapter tests left in clients/build/cases.

    python3 clients/table.py            writes the table
    python3 clients/table.py --check    exits with 1 if the page has another table than the rows
    python3 clients/table.py --check --partial   compares only the rows that are there

testdata/adapters.md describes the cases and the rows.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

CLIENTS = Path(__file__).resolve().parent
ROWS = CLIENTS / "build" / "cases"
PAGE = CLIENTS.parent / "docs" / "adapters.md"
CASES = ("allow", "deny", "ask_yes", "ask_no", "ask_late", "edit", "skip", "withheld", "parallel", "handoff", "session", "killed")
LANGUAGES = {"python": "Python", "typescript": "TypeScript"}
BEGIN, END = "<!-- written by clients/table.py -->\n", "<!-- end -->\n"
HEAD = ("host", "package", *(case.replace("_", " ") for case in CASES))


def main() -> int:
    """Write or check the table; return the exit status."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true", help="write nothing")
    options.add_argument("--partial", action="store_true", help="keep the lines of hosts without a row")
    wants = options.parse_args()
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    lines = lines_of(table) if wants.partial else {}
    made = {key: line for key, line in map(line_of, sorted(ROWS.glob("*.json")))}
    if not made:
        print(f"table: no rows in {ROWS}: run the adapter tests", file=sys.stderr)
        return 1
    new = "".join([row_of(HEAD), row_of(["---"] * len(HEAD)), *(line for _, line in sorted((lines | made).items()))])
    if not wants.check:
        PAGE.write_text(before + BEGIN + new + END + after, encoding="utf-8")
        return 0
    if table != new:
        print(f"table: {PAGE} is not current; the rows make:\n{new}", file=sys.stderr)
        return 1
    print(f"table: {len(made)} hosts, as in {PAGE.name}")
    return 0


def line_of(path: Path) -> tuple[str, str]:
    """Return the key and the line of a row; raise ValueError if its cases are not all cases."""
    row = json.loads(path.read_text(encoding="utf-8"))
    if tuple(row["cases"]) != CASES:
        raise ValueError(f"{path}: its cases are {', '.join(row['cases'])}; all are {', '.join(CASES)}")
    page = f"[{row['title']}](adapters/{row['host'].replace('_', '-')}.md), {LANGUAGES[row['language']]}"
    return page, row_of([page, f"{row['package']} {row['version']}", *row["cases"].values()])


def lines_of(table: str) -> dict[str, str]:
    """Return the lines of the table on the page by their key."""
    return {line.split(" | ")[0].removeprefix("| "): line for line in table.splitlines(keepends=True)[2:]}


def row_of(cells: tuple[str, ...] | list[str]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(cells) + " |\n"


if __name__ == "__main__":
    sys.exit(main())
