"""What the rehearsal model answers to what.

A script is a list of turns. The first turn whose `when` is found in the last human message plays
its steps, one step for each time the model is asked. Where it stands follows from the conversation
alone, so a restart in the middle of a turn changes nothing. `reading.py` makes scripts from files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["human", "ai", "tool"]
Failing = Literal[
    "rate-limit",
    "outage",
    "auth",
    "bad-request",
    "overflow",
    "empty",
    "cut-off",
    "hang-up",
    "endless",
    "hang",
]
MAIN = "main"
PLACE = re.compile(r"\{(\w+)\}")
LAST_WORD = "Done."
ECHOED = 500  # characters
PROVIDED = frozenset({"text", "result", "turn", "previous", "agent"})
RESULT = re.compile(r"result\d+")


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the conversation, as a script sees it."""

    role: Role
    text: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; in a step its arguments still hold placeholders and it has no id."""

    name: str
    args: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Fail:
    """A fault to play. `times` None: at every attempt."""

    how: Failing
    after: float | None = None  # seconds, for Retry-After
    as_date: bool = False
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One answer of the model: words, calls, or a fault; only when the last results fit."""

    say: str = ""
    calls: tuple[Call, ...] = ()
    fail: Fail | None = None
    wait: float = 0.0  # seconds
    if_result: re.Pattern[str] | None = None
    unless_result: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What to do about one kind of message."""

    when: re.Pattern[str]
    steps: tuple[Step, ...]
    agent: str = MAIN
    recall: re.Pattern[str] | None = None  # must be found in something said before


@dataclass(frozen=True, slots=True)
class Move:
    """What the model does now."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    fail: Fail | None = None
    wait: float = 0.0


@dataclass(slots=True)
class Script:
    """The turns, and how often each fault was played for each message."""

    turns: tuple[Turn, ...]
    file: str = ""
    played: dict[tuple[int, str], int] = field(default_factory=dict)

    @property
    def agents(self) -> frozenset[str]:
        return frozenset(turn.agent for turn in self.turns)

    def next(self, said: Sequence[Said], agent: str = MAIN) -> Move:
        """Choose the next answer; unknown prompts are echoed."""
        at = _last_human(said)
        text = said[at].text if at >= 0 else ""
        words = Words(said, at, agent, text)
        turn = self._find(text, said, at, agent, words)
        if turn is None:
            return Move(_echo(text))
        rounds = list(_rounds(said, at))
        position = 0
        for results in rounds[:-1]:  # what was played already; a fault left no message behind
            position = _advance(turn, position, results, words, faults=False)[0] + 1
        return self._play(turn, position, rounds, words)

    def _find(
        self, text: str, said: Sequence[Said], at: int, agent: str, words: Words
    ) -> Turn | None:
        for turn in self.turns:
            found = turn.when.search(text) if turn.agent == agent else None
            if found and turn.recall:
                before = (turn.recall.search(said[i].text) for i in range(at - 1, -1, -1))
                recalled = next((match for match in before if match), None)
                if recalled is None:
                    continue
                words.learn(recalled)
            if found:
                words.learn(found)
                return turn
        return None

    def _play(
        self, turn: Turn, position: int, rounds: Sequence[Sequence[Said]], words: Words
    ) -> Move:
        while True:
            position, step = _advance(turn, position, rounds[-1], words, faults=True)
            if step is None:
                return Move(words.fill("{result}") or LAST_WORD)
            if step.fail and not self._due(step.fail, position, words.mark):
                position += 1
                continue
            calls = tuple(
                Call(call.name, words.fill_all(call.args), words.call_id(len(rounds), n))
                for n, call in enumerate(step.calls)
            )
            return Move(words.fill(step.say), calls, step.fail, step.wait)

    def _due(self, fail: Fail, position: int, mark: str) -> bool:
        if fail.times is None:
            return True
        count = self.played.get((position, mark), 0)
        self.played[position, mark] = count + 1
        return count < fail.times


class Words:
    """The values of the placeholders of one turn."""

    def __init__(self, said: Sequence[Said], at: int, agent: str, text: str) -> None:
        self._said, self._at = said, at
        self._known: dict[str, str] = {"text": text, "agent": agent, "result": ""}
        self.mark = f"{agent}/{at}/{said[at].id or text if at >= 0 else ''}"

    def learn(self, match: re.Match[str]) -> None:
        self._known |= {str(n): group or "" for n, group in enumerate(match.groups(), 1)}
        self._known |= {name: group or "" for name, group in match.groupdict().items()}

    def results(self, results: Sequence[Said]) -> None:
        self._known["result"] = "\n".join(result.text for result in results)
        self._known |= {f"result{n}": result.text for n, result in enumerate(results, 1)}

    def fill(self, text: str) -> str:
        return PLACE.sub(lambda place: self._value(place[1]), text)

    def fill_all(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.fill(value)
        if isinstance(value, Mapping):
            return {key: self.fill_all(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.fill_all(inner) for inner in value]
        return value

    def call_id(self, round_: int, n: int) -> str:
        digest = hashlib.sha256(f"{self.mark}/{round_}/{n}".encode()).hexdigest()
        return f"call_{digest[:16]}"

    def _value(self, name: str) -> str:
        if name == "turn":
            return str(sum(said.role == "human" for said in self._said[: self._at + 1]))
        if name == "previous":
            before = (self._said[i] for i in range(self._at - 1, -1, -1))
            return next((said.text for said in before if said.role == "human"), "")
        return self._known.get(name, "")


def _last_human(said: Sequence[Said]) -> int:
    return next((i for i in range(len(said) - 1, -1, -1) if said[i].role == "human"), -1)


def _rounds(said: Sequence[Said], at: int) -> Iterator[list[Said]]:
    """The tool results that stood before each answer of this turn, the coming one included."""
    results: list[Said] = []
    for one in said[at + 1 :]:
        if one.role == "ai":
            yield results
            results = []
        else:
            results.append(one)
    yield results


def _advance(
    turn: Turn, position: int, results: Sequence[Said], words: Words, *, faults: bool
) -> tuple[int, Step | None]:
    """The next step that fits these results, and where it stands."""
    words.results(results)
    text = words.fill("{result}")
    for n in range(position, len(turn.steps)):
        step = turn.steps[n]
        found = step.if_result.search(text) if step.if_result else None
        if step.if_result and not found:
            continue
        if step.unless_result and step.unless_result.search(text):
            continue
        if step.fail and not faults:
            continue
        if found:
            words.learn(found)
        return n, step
    return len(turn.steps), None


def _echo(text: str) -> str:
    if not text.strip():
        return "I am the rehearsal model, and there was nothing to read in that message."
    short = text if len(text) <= ECHOED else f"{text[:ECHOED]} ..."
    return f"I am the rehearsal model, and my script has no line for this. You said: {short}"
