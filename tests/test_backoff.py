from __future__ import annotations

import pytest

from wakeful.backoff import Backoff


def test_delays_double_up_to_the_cap() -> None:
    backoff = Backoff(first=1.0, cap=10.0)
    assert [backoff.delay(n, chance=0.5) for n in (1, 2, 3, 4, 5, 99)] == [1, 2, 4, 8, 10, 10]


@pytest.mark.parametrize(("chance", "delay"), [(0.0, 8.0), (1.0, 12.0)])
def test_jitter_is_a_fifth_either_way(chance: float, delay: float) -> None:
    assert Backoff(first=10.0, cap=10.0).delay(1, chance=chance) == pytest.approx(delay)


def test_retry_after_is_never_shortened() -> None:
    backoff = Backoff(first=1.0, cap=10.0)
    assert backoff.after(1, asked=120.0) == 120.0
    assert backoff.after(4, asked=0.5, chance=0.5) == 8.0
    assert backoff.after(1, asked=None, chance=0.5) == 1.0
