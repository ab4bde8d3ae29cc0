"""The version of a build, and the program that it depends on.

STOPGATE_VERSION is the version of the release, as deploy/release spells it for Python. Without it, as
in a checkout, the package depends on no program: PATH or binary= has it.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_SYSTEMS = (
    "(sys_platform == 'linux' and (platform_machine == 'x86_64' or platform_machine == 'aarch64')) or "
    "(sys_platform == 'darwin' and (platform_machine == 'x86_64' or platform_machine == 'arm64'))"
)


def version() -> str:
    """Returns the version of the package."""
    return os.environ.get("STOPGATE_VERSION") or "0.0.0"


class Hook(MetadataHookInterface):
    """Adds the dependency on the program of the same release."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        released = os.environ.get("STOPGATE_VERSION")
        metadata["dependencies"] = [f"stopgate-cli=={version()} ; {_SYSTEMS}"] if released else []


def get_metadata_hook() -> type[Hook]:
    return Hook
