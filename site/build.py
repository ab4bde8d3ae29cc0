"""Builds the documentation of this checkout as one version of the site.

    python build.py --version v0.2.0 --output ../dist/site

writes OUTPUT/v0.2.0/, OUTPUT/latest/, a copy of the newest release (of this version while there is no release),
OUTPUT/versions.json, which the switcher of the pages reads, and OUTPUT/index.html, which leads to the latest. Other
versions in OUTPUT stay, so that a release is added to the published site by building into a copy of it.

Everything is a function of the checkout and of its commit, whose time is that of the files.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RELEASE = re.compile(r"v(\d+)\.(\d+)\.(\d+)")

INDEX = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>stopgate</title>
<meta http-equiv="refresh" content="0; url=latest/">
<a href="latest/">The documentation of stopgate</a>
"""


def git(*arguments: str) -> str:
    """What git prints about the checkout."""
    return subprocess.run(["git", *arguments], cwd=HERE, check=True, capture_output=True, text=True).stdout.strip()


def build(target: Path, address: str) -> None:
    """Writes the pages of the checkout, which readers find at `address`, to `target`. Ends the program if one has a mistake."""
    commit = git("rev-parse", "HEAD")
    environment = os.environ | {
        "SITE_COMMIT": commit,
        "SOURCE_DATE_EPOCH": git("log", "-1", "--format=%ct"),
        "SITE_URL": address,
        "NO_MKDOCS_2_WARNING": "1",
    }
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean", "--config-file", str(HERE / "mkdocs.yml"), "--site-dir", str(target)]
    if subprocess.run(command, env=environment, check=False).returncode != 0:
        sys.exit("site: the pages have mistakes, listed above")


def order(version: str) -> tuple[bool, tuple[int, ...], str]:
    """Sorts releases by number, after everything else."""
    release = RELEASE.fullmatch(version)
    return release is not None, tuple(map(int, release.groups())) if release else (), version


def publish(output: Path) -> None:
    """Writes what leads to the versions in `output`."""
    versions = sorted((p.name for p in output.iterdir() if p.is_dir() and p.name != "latest"), key=order, reverse=True)
    shutil.rmtree(output / "latest", ignore_errors=True)
    shutil.copytree(output / versions[0], output / "latest")
    listed = [{"version": v, "title": v, "aliases": ["latest"] if v == versions[0] else []} for v in versions]
    (output / "versions.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    (output / "index.html").write_text(INDEX, encoding="utf-8")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="build the documentation site")
    parser.add_argument("--version", required=True, help="the name of the version: a tag, or what git makes of the last one")
    parser.add_argument("--output", required=True, type=Path, help="the directory of the whole site")
    parser.add_argument("--url", default="", help="the address of the whole site, for canonical links and the list of pages")
    parser.add_argument("--playground", type=Path, help="the directory with the playground, for /playground/")
    options = parser.parse_args()
    target = (options.output / options.version).resolve()
    if not re.fullmatch(r"[\w.+-]+", options.version) or options.version in ("latest", ".", ".."):
        parser.error(f"invalid version {options.version!r}: it names a directory")
    build(target, f"{options.url.rstrip('/')}/{options.version}/" if options.url else "")
    if options.playground:
        shutil.copytree(options.playground, target / "playground", dirs_exist_ok=True)
    publish(options.output)


if __name__ == "__main__":
    main()
