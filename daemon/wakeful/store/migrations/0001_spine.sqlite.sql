-- The tables of the spine: from an event to a reply.

CREATE TABLE inbox (
  seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL,
  channel TEXT DEFAULT '' NOT NULL,
  principal TEXT NOT NULL,
  thread_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  address TEXT DEFAULT '' NOT NULL,
  untrusted INTEGER DEFAULT 0 NOT NULL,
  state TEXT DEFAULT 'queued' NOT NULL,
  not_before INTEGER,
  merged_into INTEGER,
  parent_seq INTEGER,
  received_at INTEGER NOT NULL,
  done_at INTEGER,
  error TEXT
);
CREATE INDEX inbox_backlog ON inbox (thread_key, seq) WHERE state = 'queued';
CREATE INDEX inbox_merged ON inbox (merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE identity (
  source TEXT NOT NULL,
  "key" TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (source, "key")
)
 WITHOUT ROWID;

CREATE TABLE thread (
  thread_key TEXT NOT NULL,
  graph_id TEXT NOT NULL,
  state TEXT NOT NULL,
  head_seq INTEGER,
  ready_at INTEGER DEFAULT 0 NOT NULL,
  attempts INTEGER DEFAULT 0 NOT NULL,
  crashes INTEGER DEFAULT 0 NOT NULL,
  claims INTEGER DEFAULT 0 NOT NULL,
  fence INTEGER DEFAULT 0 NOT NULL,
  lease_owner TEXT,
  lease_until INTEGER,
  fingerprint TEXT,
  untrusted_since INTEGER,
  owner TEXT,
  notes INTEGER DEFAULT 0 NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (thread_key)
)
 WITHOUT ROWID;
CREATE INDEX thread_busy ON thread (state, head_seq) WHERE head_seq IS NOT NULL;
CREATE INDEX thread_later ON thread (ready_at) WHERE state = 'ready' AND ready_at > 0;

CREATE TABLE outbox (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  event_seq INTEGER NOT NULL,
  ordinal TEXT NOT NULL,
  thread_key TEXT NOT NULL,
  channel TEXT NOT NULL,
  address TEXT NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  state TEXT DEFAULT 'queued' NOT NULL,
  attempts INTEGER DEFAULT 0 NOT NULL,
  next_at INTEGER DEFAULT 0 NOT NULL,
  lease_owner TEXT,
  lease_until INTEGER,
  receipt TEXT,
  last_error TEXT,
  tell TEXT,
  told_by INTEGER,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  CONSTRAINT outbox_once UNIQUE (event_seq, ordinal)
);
CREATE INDEX outbox_due ON outbox (next_at, id) WHERE state = 'queued';
CREATE INDEX outbox_lane ON outbox (thread_key, address, id) WHERE state IN ('queued', 'sending');
CREATE INDEX outbox_tell ON outbox (tell) WHERE tell IS NOT NULL;

CREATE TABLE progress (
  event_seq INTEGER NOT NULL,
  address TEXT NOT NULL,
  shown TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (event_seq, address)
)
 WITHOUT ROWID;

CREATE TABLE route (
  address TEXT NOT NULL,
  thread_key TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (address)
);

CREATE TABLE wait (
  wait_id TEXT NOT NULL,
  thread_key TEXT NOT NULL,
  event_seq INTEGER NOT NULL,
  outbox_id INTEGER,
  kind TEXT NOT NULL,
  request TEXT NOT NULL,
  args_digest TEXT DEFAULT '' NOT NULL,
  approvers TEXT DEFAULT '[]' NOT NULL,
  state TEXT DEFAULT 'open' NOT NULL,
  decision TEXT,
  decided_by TEXT,
  decided_at INTEGER,
  remind_at INTEGER,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (wait_id)
);
CREATE INDEX wait_due ON wait (remind_at) WHERE state = 'open' AND remind_at IS NOT NULL;
CREATE INDEX wait_event ON wait (event_seq);
CREATE INDEX wait_thread ON wait (thread_key) WHERE state IN ('open', 'decided');

CREATE TABLE effect (
  call_key TEXT NOT NULL,
  event_seq INTEGER NOT NULL,
  thread_key TEXT NOT NULL,
  tool TEXT NOT NULL,
  args_digest TEXT NOT NULL,
  state TEXT NOT NULL,
  fence INTEGER NOT NULL,
  result TEXT,
  started_at INTEGER NOT NULL,
  done_at INTEGER,
  PRIMARY KEY (call_key)
)
 WITHOUT ROWID;
CREATE INDEX effect_event ON effect (event_seq);

CREATE TABLE message (
  id INTEGER NOT NULL,
  thread_key TEXT NOT NULL,
  event_seq INTEGER,
  role TEXT NOT NULL,
  name TEXT DEFAULT '' NOT NULL,
  text TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX message_thread ON message (thread_key, event_seq);

CREATE TABLE step (
  event_seq INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  n INTEGER NOT NULL,
  kind TEXT NOT NULL,
  agent TEXT NOT NULL,
  name TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  tokens_in INTEGER DEFAULT 0 NOT NULL,
  tokens_out INTEGER DEFAULT 0 NOT NULL,
  cost FLOAT,
  ok INTEGER DEFAULT 1 NOT NULL,
  summary TEXT DEFAULT '' NOT NULL,
  artefact TEXT,
  PRIMARY KEY (event_seq, fence, n)
)
 WITHOUT ROWID;

CREATE TABLE schedule (
  name TEXT NOT NULL,
  origin TEXT NOT NULL,
  owner TEXT DEFAULT '' NOT NULL,
  spec TEXT NOT NULL,
  digest TEXT NOT NULL,
  anchor INTEGER,
  paused_at INTEGER,
  next_at INTEGER,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (name)
);
CREATE INDEX schedule_due ON schedule (next_at) WHERE next_at IS NOT NULL AND paused_at IS NULL;

CREATE TABLE firing (
  name TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  event_seq INTEGER,
  outcome TEXT,
  delivery TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (name, due_at)
);
CREATE INDEX firing_event ON firing (event_seq) WHERE event_seq IS NOT NULL;

CREATE TABLE cursor (
  channel TEXT NOT NULL,
  "key" TEXT NOT NULL,
  value TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (channel, "key")
);

CREATE TABLE file (
  path TEXT NOT NULL,
  version INTEGER NOT NULL,
  owner TEXT NOT NULL,
  digest TEXT NOT NULL,
  untrusted INTEGER DEFAULT 0 NOT NULL,
  event_seq INTEGER,
  artefact TEXT,
  written_at INTEGER NOT NULL,
  PRIMARY KEY (path, version)
);

CREATE TABLE memory (
  owner TEXT NOT NULL,
  path TEXT NOT NULL,
  text TEXT NOT NULL,
  digest TEXT NOT NULL,
  untrusted INTEGER DEFAULT 0 NOT NULL,
  event_seq INTEGER,
  artefact TEXT,
  written_at INTEGER NOT NULL,
  PRIMARY KEY (owner, path)
);

CREATE TABLE artefact (
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  digest TEXT NOT NULL,
  event_seq INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (id)
);

CREATE TABLE pin (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  "by" TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
);

CREATE TABLE grant (
  connection TEXT NOT NULL,
  principal TEXT NOT NULL,
  account TEXT DEFAULT '' NOT NULL,
  scopes TEXT DEFAULT '[]' NOT NULL,
  state TEXT NOT NULL,
  secret TEXT DEFAULT '' NOT NULL,
  version INTEGER DEFAULT 0 NOT NULL,
  expires_at INTEGER,
  refreshed_at INTEGER,
  lease_owner TEXT,
  lease_until INTEGER,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (connection, principal)
);

CREATE TABLE usage (
  id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  event_seq INTEGER,
  thread_key TEXT DEFAULT '' NOT NULL,
  principal TEXT DEFAULT '' NOT NULL,
  agent TEXT DEFAULT '' NOT NULL,
  model TEXT NOT NULL,
  tokens_in INTEGER DEFAULT 0 NOT NULL,
  tokens_out INTEGER DEFAULT 0 NOT NULL,
  cost FLOAT,
  PRIMARY KEY (id)
);

CREATE TABLE audit (
  id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  principal TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT DEFAULT '' NOT NULL,
  PRIMARY KEY (id)
);

CREATE TABLE meta (
  "key" TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY ("key")
);

CREATE TABLE checkpoints (
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT DEFAULT '' NOT NULL,
  checkpoint_id TEXT NOT NULL,
  parent_checkpoint_id TEXT,
  type TEXT,
  checkpoint BLOB,
  metadata BLOB,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);

CREATE TABLE writes (
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT DEFAULT '' NOT NULL,
  checkpoint_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  task_path TEXT DEFAULT '' NOT NULL,
  idx INTEGER NOT NULL,
  channel TEXT NOT NULL,
  type TEXT,
  value BLOB,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
