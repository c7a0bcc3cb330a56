-- The tables of the spine: from an event to a reply.

CREATE TABLE inbox (
  seq BIGSERIAL NOT NULL,
  source TEXT NOT NULL,
  channel TEXT DEFAULT '' NOT NULL,
  principal TEXT NOT NULL,
  thread_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  address TEXT DEFAULT '' NOT NULL,
  untrusted BIGINT DEFAULT 0 NOT NULL,
  state TEXT DEFAULT 'queued' NOT NULL,
  not_before BIGINT,
  merged_into BIGINT,
  parent_seq BIGINT,
  received_at BIGINT NOT NULL,
  done_at BIGINT,
  error TEXT,
  PRIMARY KEY (seq)
);
CREATE INDEX inbox_backlog ON inbox (thread_key, seq) WHERE state = 'queued';
CREATE INDEX inbox_merged ON inbox (merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE identity (
  source TEXT NOT NULL,
  key TEXT NOT NULL,
  seq BIGINT NOT NULL,
  PRIMARY KEY (source, key)
);

CREATE TABLE thread (
  thread_key TEXT NOT NULL,
  graph_id TEXT NOT NULL,
  state TEXT NOT NULL,
  head_seq BIGINT,
  ready_at BIGINT DEFAULT 0 NOT NULL,
  attempts BIGINT DEFAULT 0 NOT NULL,
  crashes BIGINT DEFAULT 0 NOT NULL,
  claims BIGINT DEFAULT 0 NOT NULL,
  fence BIGINT DEFAULT 0 NOT NULL,
  lease_owner TEXT,
  lease_until BIGINT,
  fingerprint TEXT,
  untrusted_since BIGINT,
  owner TEXT,
  notes BIGINT DEFAULT 0 NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (thread_key)
);
CREATE INDEX thread_busy ON thread (state, head_seq) WHERE head_seq IS NOT NULL;
CREATE INDEX thread_later ON thread (ready_at) WHERE state = 'ready' AND ready_at > 0;

CREATE TABLE outbox (
  id BIGSERIAL NOT NULL,
  event_seq BIGINT NOT NULL,
  ordinal TEXT NOT NULL,
  thread_key TEXT NOT NULL,
  channel TEXT NOT NULL,
  address TEXT NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  state TEXT DEFAULT 'queued' NOT NULL,
  attempts BIGINT DEFAULT 0 NOT NULL,
  next_at BIGINT DEFAULT 0 NOT NULL,
  lease_owner TEXT,
  lease_until BIGINT,
  receipt TEXT,
  last_error TEXT,
  tell TEXT,
  told_by BIGINT,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  PRIMARY KEY (id),
  CONSTRAINT outbox_once UNIQUE (event_seq, ordinal)
);
CREATE INDEX outbox_due ON outbox (next_at, id) WHERE state = 'queued';
CREATE INDEX outbox_lane ON outbox (thread_key, address, id) WHERE state IN ('queued', 'sending');
CREATE INDEX outbox_tell ON outbox (tell) WHERE tell IS NOT NULL;

CREATE TABLE progress (
  event_seq BIGINT NOT NULL,
  address TEXT NOT NULL,
  shown TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (event_seq, address)
);

CREATE TABLE route (
  address TEXT NOT NULL,
  thread_key TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (address)
);

CREATE TABLE wait (
  wait_id TEXT NOT NULL,
  thread_key TEXT NOT NULL,
  event_seq BIGINT NOT NULL,
  outbox_id BIGINT,
  kind TEXT NOT NULL,
  request TEXT NOT NULL,
  args_digest TEXT DEFAULT '' NOT NULL,
  approvers TEXT DEFAULT '[]' NOT NULL,
  state TEXT DEFAULT 'open' NOT NULL,
  decision TEXT,
  decided_by TEXT,
  decided_at BIGINT,
  remind_at BIGINT,
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (wait_id)
);
CREATE INDEX wait_due ON wait (remind_at) WHERE state = 'open' AND remind_at IS NOT NULL;
CREATE INDEX wait_event ON wait (event_seq);
CREATE INDEX wait_thread ON wait (thread_key) WHERE state IN ('open', 'decided');

CREATE TABLE effect (
  call_key TEXT NOT NULL,
  event_seq BIGINT NOT NULL,
  thread_key TEXT NOT NULL,
  tool TEXT NOT NULL,
  args_digest TEXT NOT NULL,
  state TEXT NOT NULL,
  fence BIGINT NOT NULL,
  result TEXT,
  started_at BIGINT NOT NULL,
  done_at BIGINT,
  PRIMARY KEY (call_key)
);
CREATE INDEX effect_event ON effect (event_seq);

CREATE TABLE message (
  id BIGSERIAL NOT NULL,
  thread_key TEXT NOT NULL,
  event_seq BIGINT,
  role TEXT NOT NULL,
  name TEXT DEFAULT '' NOT NULL,
  text TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX message_thread ON message (thread_key, event_seq);

CREATE TABLE step (
  event_seq BIGINT NOT NULL,
  fence BIGINT NOT NULL,
  n BIGINT NOT NULL,
  kind TEXT NOT NULL,
  agent TEXT NOT NULL,
  name TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL,
  tokens_in BIGINT DEFAULT 0 NOT NULL,
  tokens_out BIGINT DEFAULT 0 NOT NULL,
  cost FLOAT,
  ok BIGINT DEFAULT 1 NOT NULL,
  summary TEXT DEFAULT '' NOT NULL,
  artefact TEXT,
  PRIMARY KEY (event_seq, fence, n)
);

CREATE TABLE schedule (
  name TEXT NOT NULL,
  origin TEXT NOT NULL,
  owner TEXT DEFAULT '' NOT NULL,
  spec TEXT NOT NULL,
  digest TEXT NOT NULL,
  anchor BIGINT,
  paused_at BIGINT,
  next_at BIGINT,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (name)
);
CREATE INDEX schedule_due ON schedule (next_at) WHERE next_at IS NOT NULL AND paused_at IS NULL;

CREATE TABLE firing (
  name TEXT NOT NULL,
  due_at BIGINT NOT NULL,
  state TEXT NOT NULL,
  event_seq BIGINT,
  outcome TEXT,
  delivery TEXT,
  started_at BIGINT NOT NULL,
  ended_at BIGINT,
  PRIMARY KEY (name, due_at)
);
CREATE INDEX firing_event ON firing (event_seq) WHERE event_seq IS NOT NULL;

CREATE TABLE cursor (
  channel TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (channel, key)
);

CREATE TABLE file (
  path TEXT NOT NULL,
  version BIGINT NOT NULL,
  owner TEXT NOT NULL,
  digest TEXT NOT NULL,
  untrusted BIGINT DEFAULT 0 NOT NULL,
  event_seq BIGINT,
  artefact TEXT,
  written_at BIGINT NOT NULL,
  PRIMARY KEY (path, version)
);

CREATE TABLE memory (
  owner TEXT NOT NULL,
  path TEXT NOT NULL,
  text TEXT NOT NULL,
  digest TEXT NOT NULL,
  untrusted BIGINT DEFAULT 0 NOT NULL,
  event_seq BIGINT,
  artefact TEXT,
  written_at BIGINT NOT NULL,
  PRIMARY KEY (owner, path)
);

CREATE TABLE artefact (
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size BIGINT NOT NULL,
  digest TEXT NOT NULL,
  event_seq BIGINT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (id)
);

CREATE TABLE pin (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  by TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (kind, name)
);

CREATE TABLE "grant" (
  connection TEXT NOT NULL,
  principal TEXT NOT NULL,
  account TEXT DEFAULT '' NOT NULL,
  scopes TEXT DEFAULT '[]' NOT NULL,
  state TEXT NOT NULL,
  secret TEXT DEFAULT '' NOT NULL,
  version BIGINT DEFAULT 0 NOT NULL,
  expires_at BIGINT,
  refreshed_at BIGINT,
  lease_owner TEXT,
  lease_until BIGINT,
  last_error TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (connection, principal)
);

CREATE TABLE usage (
  id BIGSERIAL NOT NULL,
  at BIGINT NOT NULL,
  event_seq BIGINT,
  thread_key TEXT DEFAULT '' NOT NULL,
  principal TEXT DEFAULT '' NOT NULL,
  agent TEXT DEFAULT '' NOT NULL,
  model TEXT NOT NULL,
  tokens_in BIGINT DEFAULT 0 NOT NULL,
  tokens_out BIGINT DEFAULT 0 NOT NULL,
  cost FLOAT,
  PRIMARY KEY (id)
);

CREATE TABLE audit (
  id BIGSERIAL NOT NULL,
  at BIGINT NOT NULL,
  principal TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT DEFAULT '' NOT NULL,
  PRIMARY KEY (id)
);

CREATE TABLE meta (
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (key)
);
