"""The values that travel through the daemon: frozen, and free of any import of ours.

Times are integers: milliseconds since the epoch, UTC. An address is `<channel>:<where>`, for
example `console:reports`; a thread key is a path such as `webhook/ci/pull/42`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

EventKind = Literal["message", "delivery", "firing", "decision"]
# `decided` changes an `ask` that was delivered: it goes to the channel's `amend`.
ReplyKind = Literal["answer", "ask", "notice", "message", "report", "decided"]
Verdict = Literal["approve", "edit", "reject", "answer"]
WaitKind = Literal["approval", "question", "sign-in", "budget"]
WaitState = Literal["open", "decided", "applied", "expired", "cancelled"]
EffectState = Literal["started", "done", "unknown", "failed"]
UpdateKind = Literal["text", "tool", "tool-end", "agent", "agent-end", "state", "reply"]

# The states of an event, of a wait and of an effect, as people see them.
ENDED = frozenset({"done", "silent", "failed", "merged"})  # nothing comes after these
EVENT_STATES = ("queued", "running", "waiting", "merged", "done", "silent", "failed")
WAIT_STATES: tuple[WaitState, ...] = get_args(WaitState)
EFFECT_STATES: tuple[EffectState, ...] = get_args(EffectState)

OPERATOR = "console:operator"  # the principal who owns the machine; may always decide


def rfc3339(at: int | None) -> str | None:
    """A time as it leaves the daemon: `2026-01-05T08:00:00.000Z`."""
    if at is None:
        return None
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with an event or leaves with a reply; its bytes are an artefact."""

    name: str
    media_type: str
    artefact: str  # id of the artefact, see Host.artefact
    size: int  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What woke the agent. Any one of its `keys` seen before makes it a duplicate."""

    source: str  # the channel's own file name, or "schedule"
    keys: tuple[str, ...]  # each begins with `<source>/`
    principal: str
    thread_key: str
    text: str
    channel: str = ""  # the plug that renders the answer; empty: nowhere
    address: str = ""  # where the answer goes, `<channel>:<where>`; empty: nowhere
    kind: EventKind = "message"
    data: Mapping[str, Any] = field(default_factory=dict)  # what else the channel wants to keep
    attachments: tuple[Attachment, ...] = ()
    untrusted: bool = False
    fresh: bool = False  # start a new graph thread first (/new, and schedules with `thread: fresh`)
    not_before: int | None = None  # ms UTC
    parent_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The receipt for an event that is on disk."""

    seq: int
    thread_key: str
    duplicate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitRequest:
    """What a run stopped for. `id` is the graph's interrupt id."""

    id: str
    kind: WaitKind
    title: str  # one sentence for a person
    tool: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""  # of tool and arguments; a decision must carry it
    agent: str = "main"
    allowed: tuple[Verdict, ...] = ("approve", "edit", "reject")
    approvers: tuple[
        str, ...
    ] = ()  # principals; empty: the requester. The operator may always decide
    schema: Mapping[str, Any] = field(
        default_factory=dict
    )  # JSON schema that edited arguments must meet
    call: str = ""  # the call that stopped, by its name in the journal
    grants: bool = False  # a yes holds for this tool and requester until the conversation ends
    route: tuple[str, ...] = ()  # addresses of its cards; empty: where the answer goes
    escalate_to: tuple[str, ...] = ()  # addresses that are told when nobody answers
    remind_at: int | None = None
    escalate_at: int | None = None
    expires_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A stored wait, as people see it."""

    request: WaitRequest
    thread_key: str
    event_seq: int
    state: WaitState
    created_at: int
    decision: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to a wait."""

    verdict: Verdict
    by: str  # principal
    digest: str = ""
    args: Mapping[str, Any] | None = None  # edit: the new arguments, all of them
    reason: str = ""
    text: str = ""  # answer to a question


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message for the outbox. `ordinal` is unique per event: writing it twice is nothing."""

    ordinal: str  # `final/<address>/<part>`, `ask:<wait>`, `notice`, `send/<call key>`
    address: str
    text: str
    kind: ReplyKind = "answer"
    wait: WaitRequest | None = None
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One outbox row on its way to a channel."""

    id: int
    event_seq: int
    ordinal: str
    thread_key: str
    address: str
    text: str
    kind: ReplyKind
    attempts: int
    wait: WaitRequest | None = None
    attachments: tuple[Attachment, ...] = ()
    shown: str | None = None  # id of what the channel already shows of it (Host.shown)

    @property
    def channel(self) -> str:
        return self.address.partition(":")[0]

    @property
    def where(self) -> str:
        return self.address.partition(":")[2]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the destination says of a message that it has."""

    id: str
    thread_key: str | None = None  # where an answer to this message would arrive


@dataclass(frozen=True, slots=True)
class Health:
    """The result of a probe that went round."""

    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Progress of a run, for those who watch; never stored, lost at a crash without harm."""

    kind: UpdateKind
    event_seq: int
    agent: str = "main"
    # text: the next piece; tool: its name; state: the event's new state; reply: the whole answer
    text: str = ""
    call_id: str = ""  # of the tool call that a `tool`, `tool-end` or sub-agent belongs to
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What people saw of a thread, one line of its history."""

    role: Literal["user", "assistant", "tool"]
    text: str
    at: int
    event_seq: int | None = None
    name: str = ""  # tool: which one; user: principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What happened inside a run: one model call, tool call or sub-agent."""

    kind: Literal["model", "tool", "agent"]
    agent: str
    name: str
    started_at: int
    ended_at: int
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None  # USD
    ok: bool = True
    summary: str = ""


@dataclass(slots=True)
class Lease:
    """How long a claim is relied on; its worker moves the end with every heartbeat."""

    until: float = float("inf")  # boot-time clock, seconds; past it it may be somebody else's


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One event that a worker holds; whatever it writes for it carries the fence."""

    seq: int
    event: Event
    graph_id: str
    fence: int
    attempts: int  # exceptions so far
    crashes: int  # claims that never ended
    received_at: int
    lease: Lease = field(default_factory=Lease)
    decisions: Mapping[str, Decision] = field(
        default_factory=dict
    )  # wait id -> decision, not applied yet
    merged: tuple[tuple[int, Event], ...] = ()  # (seq, event) that joined this one
    fingerprint: str | None = None  # of the graph that last ran this thread
    untrusted: bool = False  # outside text is in the thread
    seed: tuple[
        str, ...
    ] = ()  # texts that stand in this thread before its first event (a delivered report)
    undelivered: tuple[
        str, ...
    ] = ()  # replies of this thread that became dead and were not told yet
    stopped: bool = False  # somebody wants it to end instead of running

    @property
    def thread_key(self) -> str:
        return self.event.thread_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The run ended. No replies and not silent is a fault: it becomes a notice."""

    replies: tuple[Outgoing, ...] = ()
    silent: str = ""  # reason of a recorded silence
    messages: tuple[Message, ...] = ()
    steps: tuple[Step, ...] = ()
    fingerprint: str = ""
    applied: tuple[str, ...] = ()  # decided waits that this run used up


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """The run waits for people."""

    waits: tuple[WaitRequest, ...]
    steps: tuple[Step, ...] = ()
    messages: tuple[Message, ...] = ()
    fingerprint: str = ""
    applied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The run ended with an exception. `outage`: the provider is down for everybody."""

    error: str
    retry_after: float | None = None  # seconds, when the provider said so
    outage: bool = False
    final: bool = False  # a retry cannot help
    steps: tuple[Step, ...] = ()
    fingerprint: str = ""


Outcome = Done | Parked | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong in an agent folder. `security`: the daemon must not start with it."""

    file: str
    message: str  # what is wrong and what to do next
    line: int | None = None
    key: str = ""
    security: bool = False
    warning: bool = False

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"
