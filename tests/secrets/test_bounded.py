from __future__ import annotations

import threading
from concurrent.futures import TimeoutError as Late

import pytest

from wakeful.secrets.bounded import start


def test_a_result_and_an_error_come_back() -> None:
    assert start(lambda: 7).result(5) == 7
    with pytest.raises(ZeroDivisionError):
        start(lambda: 1 / 0).result(5)


def test_a_call_that_hangs_does_not_keep_the_caller_or_the_process() -> None:
    release = threading.Event()
    waiting = start(release.wait)
    with pytest.raises(Late):
        waiting.result(0.01)
    hanging = [each for each in threading.enumerate() if each.name == "wakeful-keyring"]
    assert hanging and all(each.daemon for each in hanging)
    release.set()
    assert waiting.result(5) is True
