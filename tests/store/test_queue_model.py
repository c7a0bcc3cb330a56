"""The queue against a model of it: nothing lost, nothing twice, every thread in its order."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.store.conftest import HandClock, answer, event, question
from wakeful.events import Claim, Decision, Done, Failed, Parked, Receipt, Reply
from wakeful.store import Store, open_store

T = TypeVar("T")
THREADS = ("a", "b", "c")


class Queue(RuleBasedStateMachine):
    """Random work on a few threads, with crashes; at the end everything must come out."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="wakeful-model-")
        self.runner = asyncio.Runner()
        self.clock = HandClock()
        self.n = self.waits = 0
        self.waiting: dict[str, list[str]] = {name: [] for name in THREADS}  # not ended, in order
        self.ended: list[str] = []
        self.silent: list[str] = []
        self.heard: dict[str, list[str]] = {name: [] for name in THREADS}
        self.claims: dict[str, Claim] = {}
        self.asked: dict[str, str] = {}  # thread: open wait
        self.replies: list[Reply] = []
        self._open()

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def _open(self) -> None:
        self.stack = contextlib.AsyncExitStack()
        url = f"sqlite:///{self.folder}/state.db"
        self.store: Store = self._do(
            self.stack.enter_async_context(open_store(url, clock=self.clock, owner="model"))
        )

    @rule(thread=st.sampled_from(THREADS))
    def accept(self, thread: str) -> None:
        name = str(self.n)
        self.n += 1
        accepted = self._do(self.store.accept(event(name, f"console/{thread}")))
        assert not accepted.duplicate
        self.waiting[thread].append(name)

    @precondition(lambda self: self.n)
    @rule(data=st.data())
    def accept_again(self, data: st.DataObject) -> None:
        name = str(data.draw(st.integers(0, self.n - 1)))
        assert self._do(self.store.accept(event(name, "console/a"))).duplicate

    @rule(limit=st.integers(1, 3))
    def claim(self, limit: int) -> None:
        ready = [t for t in THREADS if self.waiting[t] and t not in self.claims | self.asked]
        claims = self._do(self.store.claim(limit))
        assert len(claims) == min(limit, len(ready))
        for claim in claims:
            thread = claim.thread_key.partition("/")[2]
            assert thread in ready
            assert claim.event.text == self.waiting[thread][0]
            self.claims[thread] = claim

    def _draw(self, data: st.DataObject) -> tuple[str, Claim]:
        thread = data.draw(st.sampled_from(sorted(self.claims)))
        return thread, self.claims.pop(thread)

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), silent=st.booleans(), dead=st.booleans())
    def finish(self, data: st.DataObject, silent: bool, dead: bool) -> None:
        thread, claim = self._draw(data)
        reply = answer(claim.event.text, address=f"console:{thread}")
        if dead:
            self._do(self.store.bury(claim, "broken", reply))
        else:
            done = Done(silent="no") if silent else Done(replies=(reply,))
            self._do(self.store.finish(claim, done))
        self.ended.append(self.waiting[thread].pop(0))
        if silent and not dead:
            self.silent.append(claim.event.text)

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), drained=st.booleans())
    def give_back(self, data: st.DataObject, drained: bool) -> None:
        _, claim = self._draw(data)
        if drained:
            self._do(self.store.release(claim))
        else:
            self._do(self.store.retry(claim, Failed(error="x"), at=self.clock.now()))

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def park(self, data: st.DataObject) -> None:
        thread, claim = self._draw(data)
        self.waits += 1
        wait = f"w{self.waits}"
        self._do(self.store.park(claim, Parked(waits=(question(wait),)), asks=()))
        self.asked[thread] = wait

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def decide(self, data: st.DataObject) -> None:
        thread = data.draw(st.sampled_from(sorted(self.asked)))
        wait = self.asked.pop(thread)
        decision = Decision(verdict="approve", by="console:operator", digest="d1")
        self._do(self.store.decide(wait, decision, key=f"console/decision/{wait}"))

    @rule(limit=st.integers(1, 4))
    def take(self, limit: int) -> None:
        self.replies += self._do(self.store.take_replies(limit))

    @precondition(lambda self: self.replies)
    @rule(again=st.booleans())
    def deliver(self, again: bool) -> None:
        reply = self.replies.pop(0)
        if again:
            self._do(self.store.resend(reply, "later", at=self.clock.now()))
            return
        self.heard[reply.where].append(reply.text)
        self._do(self.store.sent(reply, Receipt("id")))

    @rule()
    def crash(self) -> None:
        """What was claimed and what was on its way is left as it is."""
        self.store._handed.clear()
        self._do(self.stack.aclose())
        self._open()
        assert self._do(self.store.recover()) == len(self.claims)
        self.claims.clear()
        self.replies = self._do(self.store.doubtful())

    @rule(seconds=st.integers(-7200, 7200))
    def set_the_clock(self, seconds: int) -> None:
        self.clock.ms += seconds * 1000
        self._do(self.store.heartbeat())

    @invariant()
    def one_claim_of_each_thread(self) -> None:
        held = self._do(self.store.heartbeat())
        assert held == {(c.thread_key, c.fence) for c in self.claims.values()}

    def teardown(self) -> None:
        try:
            self._drain()
            for thread in THREADS:
                mine = self.heard[thread]
                assert mine == sorted(set(mine), key=int)
            heard = [name for thread in THREADS for name in self.heard[thread]]
            assert sorted(heard + self.silent) == sorted(self.ended)
        finally:
            self._do(self.stack.aclose())
            self.runner.close()
            shutil.rmtree(self.folder)

    def _drain(self) -> None:
        for thread in sorted(self.asked):
            decision = Decision(verdict="reject", by="console:operator", digest="d1")
            wait = self.asked.pop(thread)
            self._do(self.store.decide(wait, decision, key=f"console/decision/{wait}"))
        for _ in range(1000):
            for thread, claim in list(self.claims.items()):
                reply = answer(claim.event.text, address=f"console:{thread}")
                self._do(self.store.finish(claim, Done(replies=(reply,))))
                self.ended.append(self.waiting[thread].pop(0))
                del self.claims[thread]
            for taken in self.replies:
                self.heard[taken.where].append(taken.text)
                self._do(self.store.sent(taken, Receipt("id")))
            self.replies = self._do(self.store.take_replies(9))
            self.claim(3)
            if not (self.claims or any(self.waiting.values()) or self.replies):
                return
        raise AssertionError("something never came out")


TestQueue = Queue.TestCase
TestQueue.settings = settings(
    max_examples=20,
    stateful_step_count=40,
    report_multiple_bugs=False,
    deadline=None,
    suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType]
)
