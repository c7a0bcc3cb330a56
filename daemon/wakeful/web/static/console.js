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
  const asked = { headers: { "content-type": "application/json" } };
  if (body !== undefined) Object.assign(asked, { method: "POST", body: JSON.stringify(body) });
  const answer = await fetch(path, asked);
  const value = await answer.json();
  if (answer.status === 401) location.assign("/login");
  if (!answer.ok) throw new Error(value.error);
  return value;
}

function follow(event) {
  const source = new EventSource(`/api/events/${event}/stream`);
  const tools = new Map();
  let text = null;
  running = event;
  stop.hidden = false;
  const on = (kind, act) => source.addEventListener(kind, (frame) => act(JSON.parse(frame.data)));
  on("text", (update) => {
    if (update.agent !== "main") return;
    text = text || show("assistant", "");
    text.textContent += update.text;
  });
  on("tool", (update) => {
    text = null;
    tools.set(update.call, show("progress", `${update.agent}: ${update.text} …`));
  });
  on("tool-end", (update) => {
    const line = tools.get(update.call);
    if (line) line.textContent = line.textContent.replace(/ …$/, " ✓");
  });
  on("agent", (update) => show("progress", `${update.agent || update.text} started`));
  on("agent-end", (update) => show("progress", `${update.agent || update.text} finished`));
  on("end", () => {
    source.close();
    running = null;
    reload();
  });
}

async function reload() {
  const fresh = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
  if (!fresh.getElementById("messages")) return location.assign("/login");
  for (const part of ["messages", "runs"]) replace(part, fresh);
  const editing = document.activeElement && document.activeElement.closest("#waits");
  if (!editing) replace("waits", fresh);
  if (stop && running === null) stop.hidden = true;
}

function replace(id, fresh) {
  const now = document.getElementById(id);
  const then = fresh.getElementById(id);
  if (now.innerHTML !== then.innerHTML) now.replaceChildren(...then.childNodes);
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

if (form) form.addEventListener("submit", say);
if (stop) stop.addEventListener("click", () => call(`/api/events/${running}/stop`, {}).catch((error) => complain(trouble, error.message)));
document.addEventListener("click", (event) => {
  if (event.target.dataset && event.target.dataset.verdict) decide(event.target);
});
setInterval(() => { if (running === null && !document.hidden) reload(); }, POLL);
