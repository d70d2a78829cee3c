"""The dependencies have allowed licences, and the audit finds what is wrong with a lock."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "scripts"


@pytest.fixture(scope="module")
def licences() -> ModuleType:
    spec = importlib.util.spec_from_file_location("licences", SCRIPTS / "licences.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def audit(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the audit."""
    command = [sys.executable, SCRIPTS / "audit.py", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def installed(folder: Path, *lines: str) -> metadata.Distribution:
    """Make a distribution with these lines of metadata."""
    about = folder / "thing-1.0.dist-info"
    about.mkdir()
    text = "\n".join(["Metadata-Version: 2.4", "Name: thing", "Version: 1.0", *lines])
    (about / "METADATA").write_text(text, encoding="utf-8")
    return metadata.PathDistribution(about)


@pytest.mark.parametrize(
    ("lines", "licence", "is_allowed"),
    [
        (["License-Expression: MIT"], "MIT", True),
        (["License-Expression: (Apache-2.0 OR MIT) AND ISC"], "(Apache-2.0 OR MIT) AND ISC", True),
        (["License-Expression: MIT OR GPL-3.0-only"], "MIT OR GPL-3.0-only", False),
        (["License-Expression: MIT AND MPL-2.0"], "MIT AND MPL-2.0", False),
        # The expression is what counts, as PEP 639 has it.
        (["License-Expression: AGPL-3.0-only", "License: MIT"], "AGPL-3.0-only", False),
        (["Classifier: License :: OSI Approved :: MIT License", "License: see there"], "MIT", True),
        (["Classifier: License :: OSI Approved"], None, False),
        (["License: Apache License 2.0"], "Apache-2.0", True),
        (["License: Business Source License"], "Business Source License", False),
        ([f"License: Copyright of somebody, {'who says a lot, ' * 5}"], None, False),
        (["License: "], None, False),
        ([], None, False),
    ],
)
def test_licence(
    licences: ModuleType, tmp_path: Path, lines: list[str], licence: str | None, is_allowed: bool
) -> None:
    assert licences.licence_of(installed(tmp_path, *lines)) == licence
    assert (licences.problem_with("thing", licence) is None) is is_allowed


def test_exceptions_hold_for_one_distribution_and_licence(licences: ModuleType) -> None:
    assert licences.problem_with("certifi", "MPL-2.0") is None
    assert licences.problem_with("thing", "MPL-2.0") == "MPL-2.0 is not allowed"
    assert licences.problem_with("certifi", "GPL-3.0-only") == "GPL-3.0-only is not allowed"


def test_licences_of_what_passk_is_installed_with(licences: ModuleType) -> None:
    lock = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8").splitlines()
    names = {line.partition("==")[0].partition("[")[0] for line in lock if "==" in line}
    found = {licences.normalised(one.name): one for one in metadata.distributions()}
    judged = names & set(found)
    # The others are for other systems.
    assert names - judged <= {"tzdata", "colorama"}
    licence_of, problem_with = licences.licence_of, licences.problem_with
    assert {
        name: said for name in judged if (said := problem_with(name, licence_of(found[name])))
    } == {}
    for name, licence in licences.EXCEPTIONS.items():
        assert name in judged
        assert licence_of(found[name]) == licence


def write_lock(folder: Path, *lines: str) -> Path:
    path = folder / "lock.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


HASH = " \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb"


def test_audit_says_what_it_does_not_know() -> None:
    done = audit()
    assert (done.returncode, done.stderr) == (0, "")
    assert "vulnerabilities: not known: no advisories were given\n" in done.stdout
    assert f"| msgspec | {metadata.version('msgspec')} | " in done.stdout
    assert "yanked: not known" in done.stdout


def test_audit_finds_what_is_wrong_with_a_lock(tmp_path: Path) -> None:
    click = metadata.version("click")
    lock = write_lock(
        tmp_path,
        f"click=={click}{HASH}",
        "Rich>=13",
        "no.such_thing[x]==1.0 ; python_version > '3'",
    )
    done = audit(lock)
    assert done.returncode == 1
    assert f"| click | {click} | 2 | BSD-3-Clause | >=3" in done.stdout
    assert done.stderr.splitlines() == [
        "rich has no version.",
        "rich has no hash.",
        "no-such-thing 1.0 has no hash.",
    ]
    assert "not known of rich, no-such-thing 1.0: not installed here" in done.stdout


def advisory(name: str, affected: dict[str, Any], **more: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": "Some_Thing"}
    return {
        "id": name,
        "modified": "2026-11-01T00:00:00Z",
        "affected": [{"package": package, **affected}],
        **more,
    }


def ranged(*events: dict[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}


# From the examples and the evaluation algorithm of https://ossf.github.io/osv-schema.
ADVISORIES = [
    advisory("listed", {"versions": ["1.9", "1.10.0"]}),
    advisory("fixed-after", ranged({"introduced": "0"}, {"fixed": "1.11"})),
    advisory("fixed-in-it", ranged({"introduced": "0"}, {"fixed": "1.10"})),
    advisory("last-is-it", ranged({"introduced": "1.2"}, {"last_affected": "1.10"})),
    advisory("last-before", ranged({"introduced": "1.2"}, {"last_affected": "1.9"})),
    advisory("later", ranged({"introduced": "1.11"})),
    advisory("again", ranged({"fixed": "1.3"}, {"introduced": "1.10"}, {"introduced": "1"})),
    advisory("by-commit", {"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}),
    advisory("withdrawn", {"versions": ["1.10"]}, withdrawn="2026-11-02T00:00:00Z"),
    advisory("npm", {"versions": ["1.10"], "package": {"ecosystem": "npm", "name": "some-thing"}}),
    advisory("other", {"versions": ["1.10"], "package": {"ecosystem": "PyPI", "name": "thing"}}),
]


@pytest.mark.parametrize("is_zip", [False, True])
def test_audit_finds_known_vulnerabilities(tmp_path: Path, *, is_zip: bool) -> None:
    path = tmp_path / "advisories"
    if is_zip:
        with zipfile.ZipFile(path, "w") as archive:
            for one in ADVISORIES:
                archive.writestr(f"{one['id']}.json", json.dumps(one))
    else:
        path.write_text(json.dumps(ADVISORIES), encoding="utf-8")
    done = audit(write_lock(tmp_path, f"some-thing==1.10{HASH}"), "--advisories", path)
    assert done.returncode == 1
    affecting = "again, by-commit, fixed-after, last-is-it, listed"
    assert done.stderr == f"some-thing 1.10 has known vulnerabilities: {affecting}.\n"
    assert "vulnerabilities: known until 2026-11-01, " in done.stdout
    done = audit(write_lock(tmp_path, f"another-thing==1.10{HASH}"), "--advisories", path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"id": "x"}', "[1]", '[{"modified": "2026"'])
def test_audit_does_not_pass_without_its_advisories(tmp_path: Path, text: str) -> None:
    path = tmp_path / "advisories.json"
    path.write_text(text, encoding="utf-8")
    for given in (path, tmp_path / "missing.json"):
        done = audit("--advisories", given)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("The audit could not run: ")
