"""Tests of the hooks and of the versions: .venv/bin/python -m unittest, which make test runs."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

import build
import hooks


class Links(unittest.TestCase):
    """Links are written for the repository, and lead to pages of the site or back to the repository."""

    def links(self, text: str, where: str, source: str) -> str:
        return hooks._links(text, where, source)

    def test_pages(self) -> None:
        self.assertEqual(self.links("[a](../reference/cli.md#test)", "docs/instead-of", "instead-of/opa.md"), "[a](../reference/cli.md#test)")
        self.assertEqual(self.links("[a](../../SECURITY.md)", "docs/instead-of", "instead-of/opa.md"), "[a](../SECURITY.md)")
        self.assertEqual(self.links("[a](docs/flow.md)", "", "SECURITY.md"), "[a](flow.md)")
        self.assertEqual(self.links("[a](README.md)", "", "CONTRIBUTING.md"), "[a](README.md)")

    def test_files(self) -> None:
        self.assertEqual(self.links("[a](../examples/library/main.go)", "docs", "flow.md"), f"[a]({hooks.REPOSITORY}examples/library/main.go)")

    def test_other_sites_and_anchors(self) -> None:
        for text in ("[a](https://spiffe.io)", "[a](#here)", "[a](mailto:a@example.com)"):
            self.assertEqual(self.links(text, "docs", "flow.md"), text)

    def test_missing(self) -> None:
        with self.assertLogs("mkdocs.hooks.stopgate", "WARNING") as logged:
            self.links("[a](../no-such-file.go)", "docs", "flow.md")
        self.assertIn("no-such-file.go", logged.output[0])


class Code(unittest.TestCase):
    """Code is shown as it is written."""

    def test_titles(self) -> None:
        self.assertEqual(hooks._code("```toml stopgate.toml\na = 1\n```"), '```toml title="stopgate.toml"\na = 1\n```')
        self.assertEqual(hooks._code("```console\n$ ls\n```"), "```console\n$ ls\n```")

    def test_bars_in_tables(self) -> None:
        self.assertEqual(hooks._code("`a`"), "`a`")
        self.assertEqual(hooks._code(r"`a\|*b`"), "<code>a&#124;&#42;b</code>")


class Versions(unittest.TestCase):
    """The newest release is the latest version; other builds come after all releases."""

    def published(self, *names: str) -> list[tuple[str, list[str]]]:
        with tempfile.TemporaryDirectory() as directory:
            output = Path(directory)
            for name in names:
                (output / name).mkdir()
                (output / name / "index.html").write_text(name, encoding="utf-8")
            build.publish(output)
            versions = json.loads((output / "versions.json").read_text(encoding="utf-8"))
            latest = (output / "latest" / "index.html").read_text(encoding="utf-8")
            self.assertEqual(latest, versions[0]["version"])
            return [(v["version"], v["aliases"]) for v in versions]

    def test_order(self) -> None:
        self.assertEqual(
            self.published("v0.9.0", "v0.10.0", "abc1234", "v0.10.0-rc.1"),
            [("v0.10.0", ["latest"]), ("v0.9.0", []), ("v0.10.0-rc.1", []), ("abc1234", [])],
        )

    def test_before_the_first_release(self) -> None:
        self.assertEqual(self.published("abc1234"), [("abc1234", ["latest"])])


if __name__ == "__main__":
    unittest.main()
