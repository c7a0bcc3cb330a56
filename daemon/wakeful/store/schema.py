"""All tables of the store, for SQLite and PostgreSQL: times in ms UTC, flags 0 or 1, JSON as text.

A change here needs a numbered file in `migrations/` for each dialect; a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from wakeful.store.columns import BIG, key, number, partial, serial, words

metadata = MetaData()

inbox = Table(
    "inbox",
    metadata,
    serial("seq"),
    words("source"),
    words("channel", ""),
    words("principal"),
    words("thread_key"),
    words("kind"),
    words("payload"),  # emptied by retention
    words("address", ""),
    number("untrusted", 0),
    words("state", "queued"),  # queued done silent dead merged skipped
    Column("not_before", BIG),
    Column("merged_into", BIG),
    Column("parent_seq", BIG),
    number("received_at"),
    Column("done_at", BIG),
    Column("error", Text),
    sqlite_autoincrement=True,  # a seq is never used again, not even after retention
)
partial("inbox_backlog", inbox.c.thread_key, inbox.c.seq, where="state = 'queued'")
partial("inbox_merged", inbox.c.merged_into, where="merged_into IS NOT NULL")

identity = Table(
    "identity",
    metadata,
    key("source"),
    key("key"),
    number("seq"),
    sqlite_with_rowid=False,
)

thread = Table(
    "thread",
    metadata,
    key("thread_key"),
    words("graph_id"),
    words("state"),  # idle ready running parked
    Column("head_seq", BIG),  # the event it works on, kept while parked or backing off
    number("ready_at", 0),  # 0: at once
    number("attempts", 0),  # exceptions
    number("crashes", 0),  # claims that never ended
    number("claims", 0),  # of this head, however they ended
    number("fence", 0),
    Column("lease_owner", Text),
    Column("lease_until", BIG),
    Column("fingerprint", Text),
    Column("untrusted_since", BIG),
    Column("owner", Text),
    number("notes", 0),  # outbox rows that its next run must be told of
    number("created_at"),
    number("updated_at"),  # when something last came in
    sqlite_with_rowid=False,
)
partial("thread_busy", thread.c.state, thread.c.head_seq, where="head_seq IS NOT NULL")
partial("thread_later", thread.c.ready_at, where="state = 'ready' AND ready_at > 0")

outbox = Table(
    "outbox",
    metadata,
    serial("id"),
    number("event_seq"),
    words("ordinal"),
    words("thread_key"),
    words("channel"),
    words("address"),
    words("kind"),
    words("payload"),  # emptied by retention
    words("state", "queued"),  # held queued sending sent dead
    number("attempts", 0),
    number("next_at", 0),  # 0: at once
    Column("lease_owner", Text),
    Column("lease_until", BIG),
    Column("receipt", Text),
    Column("last_error", Text),
    Column("tell", Text),  # the thread whose next run is told of this reply
    Column("told_by", BIG),  # the event whose run was told
    number("created_at"),
    Column("ended_at", BIG),
    UniqueConstraint("event_seq", "ordinal", name="outbox_once"),
    sqlite_autoincrement=True,
)
partial(
    "outbox_lane",
    outbox.c.thread_key,
    outbox.c.address,
    outbox.c.id,
    where="state IN ('queued', 'sending')",
)
partial("outbox_due", outbox.c.next_at, outbox.c.id, where="state = 'queued'")
partial("outbox_tell", outbox.c.tell, where="tell IS NOT NULL")

progress = Table(
    "progress",
    metadata,
    Column("event_seq", BIG, primary_key=True, autoincrement=False),
    key("address"),
    words("shown"),
    number("at"),
    sqlite_with_rowid=False,
)

route = Table("route", metadata, key("address"), words("thread_key"), number("created_at"))

wait = Table(
    "wait",
    metadata,
    key("wait_id"),  # the graph's interrupt id
    words("thread_key"),
    number("event_seq"),
    Column("outbox_id", BIG),  # a held draft: decided without a resume
    words("kind"),
    words("request"),
    words("args_digest", ""),
    words("approvers", "[]"),
    words("state", "open"),  # open decided applied expired cancelled
    Column("decision", Text),
    Column("decided_by", Text),
    Column("decided_at", BIG),
    Column("remind_at", BIG),  # when something is due next: a reminder, an escalation, the end
    Column("expires_at", BIG),
    number("created_at"),
)
partial("wait_thread", wait.c.thread_key, where="state IN ('open', 'decided')")
Index("wait_event", wait.c.event_seq)
partial("wait_due", wait.c.remind_at, where="state = 'open' AND remind_at IS NOT NULL")

effect = Table(
    "effect",
    metadata,
    key("call_key"),
    number("event_seq"),
    words("thread_key"),
    words("tool"),
    words("args_digest"),
    words("state"),  # started done unknown failed
    number("fence"),
    Column("result", Text),
    number("started_at"),
    Column("done_at", BIG),
    sqlite_with_rowid=False,
)
Index("effect_event", effect.c.event_seq)

message = Table(
    "message",
    metadata,
    serial("id"),
    words("thread_key"),
    Column("event_seq", BIG),
    words("role"),
    words("name", ""),
    words("text"),
    number("at"),
)
Index("message_thread", message.c.thread_key, message.c.event_seq)

step = Table(
    "step",
    metadata,
    Column("event_seq", BIG, primary_key=True, autoincrement=False),
    Column("fence", BIG, primary_key=True, autoincrement=False),  # of the claim that it belongs to
    Column("n", BIG, primary_key=True, autoincrement=False),
    words("kind"),
    words("agent"),
    words("name"),
    number("started_at"),
    number("ended_at"),
    number("tokens_in", 0),
    number("tokens_out", 0),
    Column("cost", Float),
    number("ok", 1),
    words("summary", ""),
    Column("artefact", Text),
    sqlite_with_rowid=False,
)

schedule = Table(
    "schedule",
    metadata,
    key("name"),
    words("origin"),  # file chat
    words("owner", ""),
    words("spec"),
    words("digest"),
    Column("anchor", BIG),
    Column("paused_at", BIG),
    Column("next_at", BIG),
    number("updated_at"),
)
partial("schedule_due", schedule.c.next_at, where="next_at IS NOT NULL AND paused_at IS NULL")

firing = Table(
    "firing",
    metadata,
    key("name"),
    Column("due_at", BIG, primary_key=True, autoincrement=False),
    words("state"),  # running done silent failed skipped interrupted
    Column("event_seq", BIG),
    Column("outcome", Text),
    Column("delivery", Text),  # sent dead
    number("started_at"),
    Column("ended_at", BIG),
)
partial("firing_event", firing.c.event_seq, where="event_seq IS NOT NULL")

cursor = Table("cursor", metadata, key("channel"), key("key"), words("value"), number("at"))

file = Table(
    "file",
    metadata,
    key("path"),
    Column("version", BIG, primary_key=True, autoincrement=False),
    words("owner"),
    words("digest"),
    number("untrusted", 0),
    Column("event_seq", BIG),
    Column("artefact", Text),
    number("written_at"),
)

memory = Table(
    "memory",
    metadata,
    key("owner"),
    key("path"),
    words("text"),
    words("digest"),
    number("untrusted", 0),
    Column("event_seq", BIG),
    Column("artefact", Text),
    number("written_at"),
)

artefact = Table(
    "artefact",
    metadata,
    key("id"),
    words("name"),
    words("media_type"),
    number("size"),
    words("digest"),
    Column("event_seq", BIG),
    number("created_at"),
)

pin = Table("pin", metadata, key("kind"), key("name"), words("digest"), words("by"), number("at"))

grant = Table(
    "grant",
    metadata,
    key("connection"),
    key("principal"),
    words("account", ""),
    words("scopes", "[]"),
    words("state"),
    words("secret", ""),  # the secret's name in the keyring, never the secret
    number("version", 0),
    Column("expires_at", BIG),
    Column("refreshed_at", BIG),
    Column("lease_owner", Text),
    Column("lease_until", BIG),
    Column("last_error", Text),
    number("created_at"),
)

usage = Table(
    "usage",
    metadata,
    serial("id"),
    number("at"),
    Column("event_seq", BIG),
    words("thread_key", ""),
    words("principal", ""),
    words("agent", ""),
    words("model"),
    number("tokens_in", 0),
    number("tokens_out", 0),
    Column("cost", Float),
)

audit = Table(
    "audit",
    metadata,
    serial("id"),
    number("at"),
    words("principal"),
    words("action"),
    words("subject"),
    words("detail", ""),
)

meta = Table("meta", metadata, key("key"), words("value"))

# The shapes of langgraph-checkpoint-sqlite, so that its own saver can read the file. PostgreSQL has
# another saver, which makes its own tables.
SQLITE_ONLY = ("checkpoints", "writes")

checkpoints = Table(
    "checkpoints",
    metadata,
    key("thread_id"),
    Column("checkpoint_ns", Text, primary_key=True, server_default=""),
    key("checkpoint_id"),
    Column("parent_checkpoint_id", Text),
    Column("type", Text),
    Column("checkpoint", LargeBinary),
    Column("metadata", LargeBinary),
)

writes = Table(
    "writes",
    metadata,
    key("thread_id"),
    Column("checkpoint_ns", Text, primary_key=True, server_default=""),
    key("checkpoint_id"),
    key("task_id"),
    words("task_path", ""),
    Column("idx", Integer, primary_key=True, autoincrement=False),
    Column("channel", Text, nullable=False),
    Column("type", Text),
    Column("value", LargeBinary),
)
