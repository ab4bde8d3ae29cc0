"""The version of a build, and the program that it depends on.

STOPGATE_VERSION is the version of the release, as `git describe` prints it. Without it, as in a
checkout, the package depends on no program: PATH or binary= has it.
"""

from __future__ import annotations

import os
import re
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_SYSTEMS = (
    "(sys_platform == 'linux' and (platform_machine == 'x86_64' or platform_machine == 'aarch64')) or "
    "(sys_platform == 'darwin' and (platform_machine == 'x86_64' or platform_machine == 'arm64'))"
)
_DESCRIBED = re.compile(r"(?:v?(\d+(?:\.\d+)+)(?:-(\d+)-g([0-9a-f]+))?|g?([0-9a-f]+))(-dirty)?")


def version() -> str:
    """Returns the version of the package: 1.2.0 for v1.2.0, 1.2.0.post3+g12ab for v1.2.0-3-g12ab, 0.0.0+g12ab for 12ab."""
    described = os.environ.get("STOPGATE_VERSION", "")
    if not described:
        return "0.0.0"
    if (found := _DESCRIBED.fullmatch(described)) is None:
        raise ValueError(f"STOPGATE_VERSION={described!r} is no version that git describe prints")
    tag, commits, after, alone, dirty = found.groups()
    local = ".".join([f"g{h}" for h in (after, alone) if h] + ["dirty"] * bool(dirty))
    return (tag or "0.0.0") + (f".post{commits}" if commits else "") + (f"+{local}" if local else "")


class Hook(MetadataHookInterface):
    """Adds the dependency on the program of the same release."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        released = os.environ.get("STOPGATE_VERSION")
        metadata["dependencies"] = [f"stopgate-cli=={version()} ; {_SYSTEMS}"] if released else []


def get_metadata_hook() -> type[Hook]:
    return Hook
