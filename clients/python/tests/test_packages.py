"""The built packages: the same bytes twice, small, and installed from files they decide a call."""

from __future__ import annotations

import hashlib
import importlib
import os
import pathlib
import re
import subprocess
import sys
import venv

import pytest
from conftest import HERE

PACKAGE = HERE.parent
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "STOPGATE_VERSION": "1.2.0.post3+gabc1234"}
EXAMPLE = """
import stopgate_client
gate = stopgate_client.local(policy={policy!r})
print(gate.wrap(lambda path: "written " + path, name="write_file", on_denied="return")("src/a"))
print(gate.wrap(lambda path: "written", name="write_file", on_denied="return")(".env"))
"""


def build(directory: pathlib.Path) -> list[pathlib.Path]:
    """Builds the wheel and the source of the client."""
    directory.mkdir()
    client = [sys.executable, "-m", "hatchling", "build", "-d", str(directory), "-t"]
    running = [subprocess.Popen([*client, kind], cwd=PACKAGE, env=ENVIRONMENT, stdout=subprocess.DEVNULL) for kind in ("wheel", "sdist")]
    assert [process.wait() for process in running] == [0, 0]
    return sorted(directory.iterdir())


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> list[pathlib.Path]:
    """The packages of the client, and the wheel of the program, which deploy/release makes."""
    made = pathlib.Path(os.environ.get("STOPGATE_PACKAGES") or PACKAGE.parent / "build" / "packages")
    (program,) = made.glob("stopgate_cli-1.2.0.post3+gabc1234-*.whl")  # make -C clients programs
    return [*build(tmp_path_factory.mktemp("packages") / "first"), program]


def test_packages_have_the_same_bytes_twice(tmp_path: pathlib.Path) -> None:
    first, again = (build(tmp_path / name) for name in ("first", "again"))
    assert len(first) == 2 and [p.name for p in again] == [p.name for p in first]
    for a, b in zip(first, again):
        assert hashlib.sha256(a.read_bytes()).digest() == hashlib.sha256(b.read_bytes()).digest(), a.name


def test_the_client_is_small(packages: list[pathlib.Path]) -> None:
    """The goal of 60 KB is missed: docs/performance.md has the reason."""
    (source,) = [p for p in packages if p.name.endswith(".tar.gz")]
    (wheel,) = [p for p in packages if p.name.startswith("stopgate_client") and p.suffix == ".whl"]
    print(f"source {source.stat().st_size} bytes, wheel {wheel.stat().st_size} bytes")
    assert source.stat().st_size < 67_000 and wheel.stat().st_size < 98_000


def test_installed_packages_decide(packages: list[pathlib.Path], tmp_path: pathlib.Path, state: pathlib.Path) -> None:
    venv.create(tmp_path / "v")
    python = tmp_path / "v" / "bin" / "python"
    wheels = [p for p in packages if p.suffix == ".whl"]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", "--no-index", *wheels], check=True)
    policy = state / "example.toml"
    policy.write_text('version = 1\n[tools.write_file.parameters]\npath = { type = "path", required = true }\n[tools.write_file.policy]\n'
                      'run = [ { arg = "/path", prefix = "src/", mode = "unattended" }, { mode = "deny", reason = "No." } ]\n')
    clean = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(state), "PATH": "/usr/bin:/bin"}
    code = EXAMPLE.format(policy=str(policy))
    out = subprocess.run([python, "-I", "-c", code], cwd=tmp_path, env=clean, check=True, capture_output=True, text=True).stdout
    assert out == "written src/a\n[stopgate] The tool call `write_file` was not run: No (rule_matched).\n"
    for name in ("stopgate", "stopgate-cli"):
        version = subprocess.run([tmp_path / "v" / "bin" / name, "version"], env=clean, capture_output=True, text=True).stdout
        assert re.match(r"stopgate ", version)
    hook = subprocess.run([tmp_path / "v" / "bin" / "stopgate-hook", "claude-code"], env=clean, input="{", capture_output=True, text=True)
    assert hook.returncode == 2  # what is no event is blocked


@pytest.mark.parametrize("given, want", [("", "0.0.0"), ("1.2.0rc1", "1.2.0rc1"), ("1.2.0.post3+gabc1234", "1.2.0.post3+gabc1234")])
def test_versions(monkeypatch: pytest.MonkeyPatch, given: str, want: str) -> None:
    """The program of the same release is a dependency; without a release there is none."""
    monkeypatch.setenv("STOPGATE_VERSION", given)
    monkeypatch.syspath_prepend(str(PACKAGE))
    module = importlib.import_module("hatch_build")
    metadata: dict[str, list[str]] = {}
    module.Hook(str(PACKAGE), {}).update(metadata)
    assert module.version() == want
    assert [d.split(" ; ")[0] for d in metadata["dependencies"]] == ([f"stopgate-cli=={want}"] if given else [])


def test_a_version_that_python_does_not_know_builds_nothing(tmp_path: pathlib.Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path), "-t", "wheel"]
    run = subprocess.run(build, cwd=PACKAGE, env={**ENVIRONMENT, "STOPGATE_VERSION": "abc1234-dirty"}, capture_output=True, text=True)
    assert run.returncode != 0 and "abc1234-dirty" in run.stdout + run.stderr and not list(tmp_path.iterdir())
