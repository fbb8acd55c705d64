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

// Similar feature requests, while the title of an idea is typed.
const title = document.querySelector('form[action="/feature_requests/new"][method="get"] #title');
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
  title.form.after(box);
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
    // The policy of the page forbids to parse text as HTML. A response that is a document needs no parsing here.
    request = new XMLHttpRequest();
    request.open("GET", "/feature_requests/similar?title=" + encodeURIComponent(typed));
    request.responseType = "document";
    request.addEventListener("load", (event) => {
      const { status, response } = event.target;
      show(status === 200 && response?.body ? Array.from(response.body.children) : []);
    });
    request.send();
  }

  function show(parts) {
    const [first, ...rest] = parts.map((part) => document.importNode(part, true));
    sentence.replaceChildren(...(first ? [first] : []));
    list.replaceChildren(...rest);
  }
}
