"""What the container runs, on a root that cannot be written."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.app_help import Player, app_process
from tests.support.processes import ROOT
from tests.support.waiting import PATIENCE_S

#: Makes every mounted file system read-only, but for new ones on the folders given before ``--``.
READ_ONLY = """
mount --make-rprivate /
mount -o remount,bind,ro /
for place in $(cut -d' ' -f2 /proc/mounts); do mount -o remount,bind,ro "$place" 2>/dev/null; done
while [ "$1" != -- ]; do mount -t tmpfs tmpfs "$1" || exit 9; shift; done
shift
exec "$@"
"""
NAMESPACE = ["unshare", "--map-root-user", "--mount", "sh", "-c", READ_ONLY, "sh"]


@pytest.fixture(autouse=True)
def namespaces() -> None:
    if (
        shutil.which("unshare") is None
        or subprocess.run([*NAMESPACE, "--", "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("this system does not allow mount namespaces")


def test_the_app_runs_on_a_read_only_root(tmp_path: Path) -> None:
    for name in ("data", "temporary"):
        (tmp_path / name).mkdir()
    folders = [str(tmp_path / "data"), str(tmp_path / "temporary")]
    command = [*NAMESPACE, *folders, "--", sys.executable, "app.py"]
    with app_process(tmp_path, {"TMPDIR": folders[1]}, command) as running:
        player = Player(running.url)
        player.open()
        player.guess(1.0, 2.0)
        assert player.buttons == {"next"}
        player.upload("answers.json", b"[]")
        assert "Read-only" not in running.said()
        assert "Traceback" not in running.said()
    assert not (tmp_path / "data" / "agl1k.db").exists(), "it was not on the read-only root"


@pytest.mark.parametrize(
    "command", [["app.py"], ["-m", "agl1k_core", "serve"], ["-m", "agl1k_core", "admin", "status"]]
)
def test_without_a_temporary_folder_it_says_what_to_do(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "data").mkdir()
    done = subprocess.run(
        [*NAMESPACE, str(tmp_path / "data"), "--", sys.executable, *command],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "AGL1K_DATA": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "No folder for temporary files can be written. Set TMPDIR" in done.stderr
