// Brings the page to life. What comes from the daemon is put in as text, never as markup.
"use strict";

const messages = document.getElementById("messages");
const form = document.getElementById("say");
const stop = document.getElementById("stop");
const trouble = document.getElementById("trouble");
const POLL = 5000; // milliseconds; for what arrives without being asked for
let running = null;

function show(role, text) {
  const item = document.createElement("li");
  const body = document.createElement("div");
  item.className = role;
  body.className = "text";
  body.textContent = text;
  item.append(body);
  messages.append(item);
  item.scrollIntoView({ block: "end" });
  return body;
}

function complain(place, sentence) {
  place.textContent = sentence;
  place.hidden = !sentence;
}

async function call(path, body) {
  const asked = { headers: { "content-type": "application/json", "wakeful-live": "1" } };
  if (body !== undefined) Object.assign(asked, { method: "POST", body: JSON.stringify(body) });
  const answer = await fetch(path, asked);
  const value = await answer.json();
  if (answer.status === 401) location.assign("/login");
  if (!answer.ok) throw new Error(value.error);
  return value;
}

function follow(event) {
  const source = new EventSource(`/api/events/${event}/stream`);
  const calls = new Map();
  let text = null;
  const on = (kind, act) => source.addEventListener(kind, (frame) => act(JSON.parse(frame.data)));
  const line = (update, words) => {
    text = null;
    const who = update.agent === "main" ? "" : `${update.agent}: `;
    if (!calls.has(update.call)) calls.set(update.call, show("progress", ""));
    calls.get(update.call).textContent = `${who}${update.text} ${words}`;
  };
  running = event;
  stop.hidden = false;
  on("text", (update) => {
    text = text || show("assistant", "");
    text.textContent = update.detail === "snapshot" ? update.text : text.textContent + update.text;
  });
  on("tool", (update) => line(update, "…"));
  on("tool-end", (update) => line(update, update.detail || "✓"));
  on("agent", (update) => line(update, "works …"));
  on("agent-end", (update) => line(update, update.detail || "✓"));
  const close = () => {
    source.close();
    running = null;
    reload();
  };
  on("state", (update) => { if (update.text === "waiting") close(); });
  on("end", close);
}

async function reload() {
  const answer = await fetch(location.href).catch(() => null);
  if (answer === null) return; // the daemon is down just now
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!fresh.getElementById("messages")) return location.assign("/login");
  document.title = fresh.title;
  for (const part of ["title", "threads", "runs"]) replace(part, fresh);
  const editing = document.activeElement && document.activeElement.closest("#waits");
  if (!editing) replace("waits", fresh);
  if (running !== null) return;
  replace("messages", fresh);
  if (stop) stop.hidden = true;
  if (stop && fresh.body.dataset.event) follow(fresh.body.dataset.event);
}

function replace(id, fresh) {
  const now = document.getElementById(id);
  const then = fresh.getElementById(id);
  if (now.innerHTML === then.innerHTML) return;
  now.replaceChildren(...then.childNodes);
  if (now === messages && now.lastElementChild) now.lastElementChild.scrollIntoView({ block: "end" });
}

async function say(event) {
  event.preventDefault();
  const field = document.getElementById("text");
  const thread = document.body.dataset.thread;
  const id = crypto.randomUUID();
  try {
    complain(trouble, "");
    const taken = await call("/api/messages", thread ? { thread, text: field.value, id } : { text: field.value, id });
    show("user", field.value);
    field.value = "";
    if (!thread) history.replaceState(null, "", `/?thread=${encodeURIComponent(taken.thread)}`);
    document.body.dataset.thread = taken.thread;
    follow(taken.event);
  } catch (error) {
    complain(trouble, error.message);
  }
}

async function decide(button) {
  const card = button.closest(".wait");
  const args = card.querySelector(".args");
  const body = { decision: button.dataset.verdict, digest: card.dataset.digest };
  const place = card.querySelector(".wrong");
  try {
    complain(place, "");
    if (body.decision === "edit") body.args = JSON.parse(args.value);
    if (body.decision === "answer") body.text = button.dataset.text || card.querySelector(".answer").value;
    if (body.decision === "approve" && args.value !== args.dataset.was) {
      throw new Error("You changed the arguments: press Edit to use them.");
    }
    if (body.decision === "reject") body.reason = card.querySelector(".reason").value;
    await call(`/api/waits/${encodeURIComponent(card.dataset.id)}`, body);
    card.remove();
    reload();
  } catch (error) {
    complain(place, error.message);
  }
}

if (messages.lastElementChild) messages.lastElementChild.scrollIntoView({ block: "end" });
if (form) form.addEventListener("submit", say);
if (form) document.getElementById("text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
if (stop) stop.addEventListener("click", () => call(`/api/events/${running}/stop`, {}).catch((error) => complain(trouble, error.message)));
document.addEventListener("click", (event) => {
  if (event.target.dataset && event.target.dataset.verdict) decide(event.target);
});
setInterval(() => { if (!document.hidden) reload(); }, POLL);
if (stop && document.body.dataset.event) follow(document.body.dataset.event);
