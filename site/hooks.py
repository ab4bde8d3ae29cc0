"""Hooks of MkDocs: the pages are written for readers of the repository, and become pages of the site.

- A fence with a file name after its language shows the name as its title.
- Files of the repository that are pages of the site, such as the changelog, are added to it.
- Links to other files of the repository lead to the repository, at the commit of the build. A link to a file that is
  not there is a warning, which `--strict` makes an error.
"""

from __future__ import annotations

import logging
import os
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.hooks.stopgate")

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/stopgate/stopgate/blob/" + os.environ.get("SITE_COMMIT", "main") + "/"

# Files at the top of the repository that the site has as pages.
TOP = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[a-z]+) (?P<name>[^\s`=]+)$", re.M)
CODE = re.compile(r"(?ms)^ *```.*?^ *```$|(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")
LINK = re.compile(r"(?P<open>\]\()(?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the files of TOP."""
    for name in TOP:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrites fences and links of a page."""
    source = page.file.src_uri
    home = "" if source in TOP else "docs"
    where = posixpath.dirname(posixpath.join(home, source))
    parts: list[str] = []
    end = 0
    for code in CODE.finditer(markdown):
        parts += [_links(markdown[end : code.start()], where, source), _code(code.group())]
        end = code.end()
    return "".join([*parts, _links(markdown[end:], where, source)])


def _code(text: str) -> str:
    """Titles a fence. Code in the cells of tables shows `|`, which it has as `\\|`."""
    if text.lstrip().startswith("```"):
        return FENCE.sub(_titled, text)
    if "\\|" in text:
        plain = text.strip("`").replace("\\|", "|")
        return "<code>" + "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in plain) + "</code>"
    return text


def _titled(fence: re.Match[str]) -> str:
    return f'{fence["indent"]}```{fence["language"]} title="{fence["name"]}"'


def _links(text: str, where: str, source: str) -> str:
    """Rewrites the links of a text of the page `source`, whose file is in the directory `where` of the repository."""

    def rewrite(link: re.Match[str]) -> str:
        target, anchor = link["target"], link["anchor"] or ""
        if re.match(r"[a-z]+:|/", target):
            return link.group()
        path = posixpath.normpath(posixpath.join(where, target))
        if not (ROOT / path).exists():
            log.warning("%s links to %s, which is not in the repository", source, target)
            return link.group()
        return f"{link['open']}{_address(path, source)}{anchor})"

    return LINK.sub(rewrite, text)


def _address(path: str, source: str) -> str:
    """The link of the page `source` to the file `path` of the repository."""
    if path == "README.md":
        path = "docs/README.md"
    if path.startswith("docs/") or path in TOP:
        return posixpath.relpath(path.removeprefix("docs/"), posixpath.dirname(source) or ".")
    return REPOSITORY + path
