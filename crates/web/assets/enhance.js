// Makes some things quicker. Everything works without it.
"use strict";

// Ctrl+Enter or Cmd+Enter in a text area sends its form.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  const area = event.target;
  if (!(area instanceof HTMLTextAreaElement) || area.readOnly || !area.form) return;
  event.preventDefault();
  area.form.requestSubmit();
});

// The problems of a form are read first, also in browsers that do not heed `autofocus` here.
addEventListener("load", () => {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector(".problem")?.focus();
  });
});

// Who chooses a colour does not want the default one.
document.querySelector("#accent")?.addEventListener("input", () => {
  document.querySelector("#accent-default").checked = false;
});

// Sends a choice at once; the keyboard has a button.
for (const select of document.querySelectorAll("[data-submit]")) {
  select.form.classList.add("at-once");
  select.onchange = () => select.matches(":focus-visible") || select.form.submit();
}

for (const copy of document.querySelectorAll("[data-copied]")) copy.onclick = () => {
  copy.previousSibling.select();
  if (document.execCommand("copy")) copy.textContent = copy.dataset.copied;
};

// Ticked rows: their number, and a box that ticks all.
const ticked = document.querySelector("[data-ticked]");
if (ticked) countTicked(ticked);

// Keyboard shortcuts, which the page lists if they are switched on.
const shortcuts = document.querySelector("[data-shortcuts]");
if (shortcuts) listenForKeys(shortcuts);

// A page about something that goes on shows how far it is.
if (document.querySelector("[data-reload]")) setTimeout(() => location.reload(), 2500);

// Votes and subscriptions of somebody who is signed in change the page in place.
const { failed } = document.currentScript.dataset;
document.addEventListener("submit", (event) => {
  const form = event.target;
  const part = form.closest("[data-part]");
  if (!part || form.method !== "post") return;
  event.preventDefault();
  if (!part.ariaBusy) change(part, form);
});

function change(part, form) {
  const button = form.querySelector("button");
  const forms = Array.from(part.querySelectorAll("form"));
  const before = button.ariaPressed;
  // One sentence is shown, about the last action.
  for (const old of document.querySelectorAll("main [role=status]")) old.remove();
  const sentence = document.createElement("p");
  sentence.className = "beside";
  sentence.role = "status";
  part.after(sentence);
  part.ariaBusy = "true";
  button.ariaPressed = before !== "true";
  const data = new URLSearchParams(new FormData(form));
  data.set("part", part.dataset.part);
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.responseType = "document";
  request.timeout = 30000;
  request.addEventListener("loadend", () => {
    const { status, response } = request;
    const changed = status === 200 && response?.querySelector("[data-part]");
    // Whoever is not signed in any more goes on as without this script.
    if (!changed && status === 200) return form.submit();
    if (!changed) {
      part.ariaBusy = null;
      button.ariaPressed = before;
      sentence.textContent = response?.querySelector(".lead")?.textContent ?? failed;
      return;
    }
    const hadFocus = part.contains(document.activeElement);
    const shown = document.importNode(changed, true);
    part.replaceWith(shown);
    if (hadFocus) shown.querySelectorAll("form")[forms.indexOf(form)]?.querySelector("button").focus();
    sentence.textContent = response.querySelector("p").textContent;
  });
  request.send(data);
}

// Similar feature requests, while the title of an idea is typed.
const title = document.querySelector('form[action="/feature_requests/new"][method="get"] #title, #title[data-similar]');
if (title) showSimilar(title);

function showSimilar(title) {
  const pause = 400;
  const shortest = 4;
  const box = document.createElement("div");
  box.className = "stack after";
  // Screen readers are told in a sentence, not with the whole list.
  const sentence = document.createElement("div");
  sentence.setAttribute("aria-live", "polite");
  const list = document.createElement("div");
  box.append(sentence, list);
  const place = title.dataset.similar && document.getElementById("similar");
  if (place) place.replaceChildren(box);
  else title.form.after(box);
  let timer = 0;
  let request = null;
  let shown = "";

  title.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, pause);
  });
  if (title.value) look();

  function look() {
    const typed = title.value.trim();
    if (typed === shown) return;
    shown = typed;
    request?.abort();
    if (typed.length < shortest) {
      show([]);
      return;
    }
    request = load((title.dataset.similar || "/feature_requests/similar") + "?title=" + encodeURIComponent(typed), show);
  }

  function show([first, ...rest]) {
    sentence.replaceChildren(...(first ? [first] : []));
    list.replaceChildren(...rest);
  }
}

// Loads a part of a page. The policy of pages forbids to parse text as HTML; a response that is a document needs no parsing.
function load(path, show) {
  const request = new XMLHttpRequest();
  request.open("GET", path);
  request.responseType = "document";
  request.addEventListener("load", () => {
    const parts = request.status === 200 ? Array.from(request.response?.body?.children ?? []) : [];
    show(parts.map((part) => document.importNode(part, true)));
  });
  request.send();
  return request;
}

// Known customers, while an address is typed.
const person = document.querySelector("[data-suggest]");
if (person) suggestPeople(person);

function suggestPeople(person) {
  let timer = 0;
  person.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const path = person.dataset.suggest + "?query=" + encodeURIComponent(person.value);
      if (person.value) load(path, ([people]) => person.list.replaceChildren(...(people?.children ?? [])));
    }, 200);
  });
}

function countTicked(sentence) {
  const hint = sentence.textContent;
  const form = sentence.closest("form");
  const boxes = Array.from(form.querySelectorAll("tbody [type=checkbox]"));
  const all = form.querySelector("[data-tick-all]");
  const apply = form.querySelector("[data-apply]");
  const words = apply.textContent;
  all.parentElement.hidden = false;

  function show() {
    const count = boxes.filter((box) => box.checked).length;
    all.checked = count === boxes.length;
    all.indeterminate = count > 0 && !all.checked;
    sentence.textContent = count ? sentence.dataset.ticked.replace("#", count) : hint;
    apply.textContent = count ? apply.dataset.apply.replace("#", count) : words;
  }

  form.addEventListener("change", (event) => {
    if (event.target === all) for (const box of boxes) box.checked = all.checked;
    // Only what changes while the page is open is announced.
    sentence.setAttribute("role", "status");
    show();
  });
  // Browsers tick boxes again when they go back to a page.
  addEventListener("pageshow", show);
  show();
}

function listenForKeys(help) {
  const words = help.dataset.shortcuts.split(" ");
  const actions = new Map();
  for (let at = 0; at < words.length; at += 2) actions.set(words[at], words[at + 1]);
  const rows = Array.from(document.querySelectorAll("tbody tr"));
  let row = null;

  // Keys that mean something to the control with the focus are left to it.
  function isTyping(element) {
    return element.isContentEditable || element.matches("textarea, select, input:not([type=checkbox])");
  }

  function go(step) {
    const at = rows.indexOf(row);
    row = rows[at < 0 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)];
    row?.querySelector("th a").focus();
  }

  document.addEventListener("focusin", (event) => {
    row = event.target.closest("tbody tr") ?? row;
  });
  document.addEventListener("keydown", (event) => {
    const action = actions.get(event.key);
    if (!action || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || isTyping(event.target)) return;
    event.preventDefault();
    if (action === "next") go(1);
    else if (action === "previous") go(-1);
    else if (action === "tick") row?.querySelector("[type=checkbox]")?.click();
    else if (action === "help") help.open = !help.open;
    else if (action.startsWith("focus-")) document.getElementById(action.slice(6))?.focus();
    else if (action.startsWith("press-")) document.querySelector(`[aria-keyshortcuts="${event.key}"]`)?.click();
  });
}

// Pictures that are chosen, pasted or dropped are sent at once, and their links are put where the cursor is.
const pictures = document.querySelector("[data-picture-of]");
if (pictures) addPictures(pictures);

function addPictures(field) {
  const area = document.getElementById(field.dataset.pictureOf);
  const hint = document.getElementById("picture-hint");
  hint.append(" ", hint.dataset.dropping);
  const status = document.createElement("p");
  status.className = "hint";
  status.setAttribute("aria-live", "polite");
  hint.after(status);
  let last = Promise.resolve();

  field.addEventListener("change", () => {
    add(field.files);
    // The form does not send them once more.
    field.value = "";
  });
  area.addEventListener("paste", (event) => take(event, event.clipboardData));
  area.addEventListener("drop", (event) => take(event, event.dataTransfer));
  area.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });

  function take(event, data) {
    const isPicture = (file) => file.type.startsWith("image/");
    const files = Array.from(data?.files ?? []).filter(isPicture);
    if (!files.length) return;
    event.preventDefault();
    add(files);
  }

  // One after another, in their order.
  function add(files) {
    for (const file of Array.from(files)) last = last.then(() => send(file));
  }

  async function send(file) {
    const { sending, added, failed } = field.dataset;
    status.textContent = sending;
    const form = new FormData();
    form.append("picture", file);
    try {
      const response = await fetch("/pictures", { method: "POST", body: form, redirect: "error" });
      const isPlain = response.headers.get("content-type")?.startsWith("text/plain");
      const text = await response.text();
      if (response.status === 201) insert(text);
      status.textContent = response.status === 201 ? added : isPlain ? text : failed;
    } catch {
      status.textContent = failed;
    }
  }

  function insert(link) {
    const { value, selectionStart: from, selectionEnd: to } = area;
    replace(area, from, to, (from && value[from - 1] !== "\n" ? "\n" : "") + link + "\n");
  }
}

// Replaces a part of a text. Unlike a change by the script alone, this one can be undone.
function replace(area, start, end, text, from, to = from) {
  area.focus();
  area.setSelectionRange(start, end);
  if (!document.execCommand(text ? "insertText" : "delete", false, text)) {
    area.setRangeText(text, start, end, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (from >= 0) area.setSelectionRange(from, to);
}

// The toolbars of text areas for Markdown.
for (const bar of document.querySelectorAll(".tools")) addTools(bar, bar.nextElementSibling);

function addTools(bar, area) {
  // What two of the buttons press. Not every form has it.
  const others = {
    picture: document.querySelector(`[data-picture-of="${area.id}"]`),
    preview: area.form.querySelector('[formaction$="#preview"]'),
  };
  const buttons = Array.from(bar.children).filter((button) => others[button.value] !== null || button.remove());
  bar.hidden = false;
  bar.onclick = (event) => format(event.target.closest("button")?.value);
  // The toolbar is one stop of the Tab key.
  bar.onkeydown = (event) => {
    const at = buttons.indexOf(event.target);
    const step = document.dir === "rtl" ? -1 : 1;
    const next = { ArrowRight: at + step, ArrowLeft: at - step, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.target.tabIndex = -1;
    const button = buttons.at(next % buttons.length);
    button.tabIndex = 0;
    button.focus();
  };
  area.addEventListener("keydown", (event) => {
    // In other alphabets, the place of the key counts.
    const key = event.key > "~" ? event.code.at(-1) : event.key.toUpperCase();
    const action = { B: "bold", K: "link" }[key];
    if (!action || event.ctrlKey === event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    format(action);
  });

  function format(action) {
    others[action]?.click();
    const { value, selectionStart: from, selectionEnd: to } = area;
    const selected = value.slice(from, to);
    // Marks have no effect beside spaces.
    const text = selected.trim();
    const start = from + selected.indexOf(text);
    const end = start + text.length;
    if (action === "bold") {
      const inner = text.match(/^\*\*([^*]+)\*\*$/)?.[1];
      if (inner) replace(area, start, end, inner, start, end - 4);
      else if (value.slice(0, start).endsWith("**") && value.startsWith("**", end)) replace(area, start - 2, end + 2, text, start - 2, end - 2);
      else replace(area, start, end, `**${text}**`, start + 2, end + 2);
    } else if (action === "link") {
      if (!text || /^https?:\S+$/i.test(text)) replace(area, start, end, `[](${text || "https://"})`, start + 1);
      else replace(area, start, end, `[${text}](https://)`, end + 3, end + 11);
    } else if (action === "list") {
      const first = value.slice(0, from).lastIndexOf("\n") + 1;
      // A selected line break is the end of its line.
      const last = `${value}\n`.indexOf("\n", selected ? to - 1 : to);
      const lines = value.slice(first, last);
      const listed = lines.replace(/^(?!- |$)/gm, "- ") || "- ";
      const shown = listed === lines ? lines.replace(/^- /gm, "") : listed;
      const caret = Math.max(first, to + shown.length - lines.length);
      replace(area, first, last, shown, selected ? first : caret, caret);
    }
  }
}
