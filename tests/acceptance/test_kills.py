"""SIGKILL at random instants and at each row of the crash table; nothing lost, nothing said twice.

`WAKEFUL_KILLS` says how many kills the random matrix makes: 15 in CI, 200 in `make soak`.
"""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

from tests.acceptance.points import POINTS
from tests.acceptance.stage import Stage, write_report

KILLS = int(os.environ.get("WAKEFUL_KILLS", "15"))
SEED = int(os.environ.get("WAKEFUL_SEED", "1"))
AWAKE = (0.2, 2.5)  # seconds between ready and the kill
REACHED_WITHIN = 60.0  # seconds until a crash point is reached under load


def test_random_kills_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    dice, pause = random.Random(SEED), threading.Event()
    with Stage(tmp_path) as stage:
        stage.daemon.start()
        stage.start_load(seed=SEED)
        for _ in range(KILLS):
            pause.wait(dice.uniform(*AWAKE))
            stage.daemon.kill()
            stage.daemon.start()
        stage.stop_load()
        stage.drain()
        found = stage.reckon()
        assert found["events"] > KILLS
        write_report(tmp_path, "random-kills", found | {"kills": KILLS})


def test_a_kill_at_each_row_of_the_crash_table_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """One life for each row; what one kill leaves behind is what the next life begins with."""
    with Stage(tmp_path) as stage:
        stage.daemon.start()
        stage.start_load(seed=SEED + 100)
        for point in POINTS:
            stage.daemon.kill()
            stage.daemon.crash_at = point
            stage.daemon.start()
            assert stage.daemon.died_within(REACHED_WITHIN), f"{point} was never reached"
        stage.daemon.crash_at = ""
        stage.daemon.start()
        stage.stop_load()
        stage.drain()
        write_report(tmp_path, "kills-at-each-row", stage.reckon() | {"kills": 2 * len(POINTS)})
