"""Packs the program stopgate of one system into a wheel of the package stopgate-cli.

    STOPGATE_VERSION=v1.2.0 python scripts/cli_wheel.py linux-amd64 PROGRAM LICENSE DIRECTORY

The wheel has the program, a module that returns its path, and a command `stopgate` that runs it. Its
bytes depend on nothing but the arguments.
"""

from __future__ import annotations

import base64
import hashlib
import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from hatch_build import version  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

# The program is linked statically: any Linux has what it needs. macOS 12 is the oldest one that Go supports.
TAGS = {
    "linux-amd64": ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
    "linux-arm64": ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
    "darwin-amd64": ["macosx_12_0_x86_64"],
    "darwin-arm64": ["macosx_12_0_arm64"],
}

MODULE = '''"""The program stopgate."""

import os
import sys


def program() -> str:
    """Returns the path of the program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "stopgate")


def main() -> None:
    """Runs the program in the place of this one."""
    os.execv(program(), ["stopgate", *sys.argv[1:]])
'''

METADATA = """Metadata-Version: 2.1
Name: stopgate-cli
Version: {version}
Summary: The program stopgate, which decides for every tool call of an AI agent whether it runs
License: Apache-2.0
Requires-Python: >=3.10
Description-Content-Type: text/markdown

The program of [stopgate](https://github.com/stopgate/stopgate) for its Python client, `stopgate-client`.
The package `stopgate` on PyPI is an unrelated project.
"""


def build(system: str, program: bytes, license: bytes, directory: pathlib.Path) -> pathlib.Path:
    """Writes the wheel and returns its path."""
    of, tags = version(), TAGS[system]
    info = f"stopgate_cli-{of}.dist-info"
    wheel = "".join(f"Tag: py3-none-{tag}\n" for tag in tags)
    files = {
        "stopgate_cli/__init__.py": MODULE.encode(),
        "stopgate_cli/py.typed": b"",
        "stopgate_cli/bin/stopgate": program,
        f"{info}/LICENSE": license,
        f"{info}/METADATA": METADATA.format(version=of).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: stopgate\nRoot-Is-Purelib: false\n{wheel}".encode(),
        f"{info}/entry_points.txt": b"[console_scripts]\nstopgate = stopgate_cli:main\n",
    }
    rows = [f"{name},sha256={digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    path = directory / f"stopgate_cli-{of}-py3-none-{'.'.join(tags)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith("/bin/stopgate") else 0o100644) << 16
            archive.writestr(entry, data)
    return path


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main() -> None:
    system, program, license, directory = sys.argv[1:]
    print(build(system, pathlib.Path(program).read_bytes(), pathlib.Path(license).read_bytes(), pathlib.Path(directory)))


if __name__ == "__main__":
    main()
