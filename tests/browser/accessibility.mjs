// Checks of one page that is open in a browser.

import { createRequire } from "node:module";
import fs from "node:fs";
import { HtmlValidate } from "html-validate";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const AXE_OPTIONS = {
  runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] },
  // The rule of WCAG 2.2 is off by default.
  rules: { "target-size": { enabled: true } },
  resultTypes: ["violations", "incomplete"],
};

/**
 * Shows excerpts and roadmaps in full. The text behind the end of an excerpt makes axe take what follows for covered, and
 * so does the end of a roadmap that scrolls.
 */
const UNFOLDED = "* { -webkit-line-clamp: none !important } .lanes--many { overflow: visible !important }";

/** What axe cannot decide, by its key, and why it is right. */
const DECIDED = {
  // Boxes of lines overlap a little, not their letters. Numbers of one digit have the colour of longer ones.
  // The labels of charts stand on the box around the chart, which axe takes for an image.
  "color-contrast": /^\s*(elmPartiallyObscuring|shortTextContent|imgNode)\s*$/,
};

/** Runs axe. Returns violations, and what axe could not decide. */
export async function runAxe(page) {
  await page.evaluate(axe);
  const run = () => page.evaluate((options) => window.axe.run(document, options), AXE_OPTIONS);
  const { violations, incomplete } = await withStyle(page, UNFOLDED, run);
  const lines = (rules) => rules.flatMap(({ id, nodes }) => nodes.map((node) => ({
    rule: id,
    text: `${id} at ${node.target.join(" ")}: ${node.any.concat(node.all, node.none).map((check) => check.message).join("; ").slice(0, 300)}`,
    keys: node.any.concat(node.all, node.none).map((check) => check.data?.messageKey ?? "").join(" "),
  })));
  return {
    violations: lines(violations).map(({ text }) => text),
    undecided: lines(incomplete).filter(({ rule, keys }) => !DECIDED[rule]?.test(keys)).map(({ text, keys }) => `${text} (${keys.trim()})`),
  };
}

const validator = new HtmlValidate({
  root: true,
  extends: ["html-validate:recommended"],
  rules: {
    // What people write is shown as they wrote it, within the elements that are allowed.
    "no-trailing-whitespace": "off",
    "long-title": "off",
    "no-inline-style": "error",
    // The boxes of a selection have one name, and so have the hidden fields of one that was made.
    "form-dup-name": "off",
  },
});

/** Validates the bytes of a page. Returns the errors. */
export async function validate(markup) {
  const { results } = await validator.validateString(markup);
  const errors = results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line, column }) => `${ruleId} in line ${line}, column ${column}: ${message}`));
  // Not only ids of the same tree: every id of the document.
  const tags = markup.replace(/<!--[\s\S]*?-->/g, "").match(/<[a-z][^\s/>]*(?:\s+[^\s=>]+(?:=(?:"[^"]*"|'[^']*'|[^\s>]+))?)*\s*\/?>/gi) ?? [];
  const ids = new Set();
  for (const tag of tags) {
    const attributes = [...tag.matchAll(/\s([^\s=>/]+)(?:=(?:"([^"]*)"|'([^']*)'))?/g)];
    for (const [, name, value] of attributes) {
      if (/^(style|on\w+)$/i.test(name)) errors.push(`attribute ${name} of ${tag.slice(0, 100)}`);
      if (name === "id" && ids.has(value)) errors.push(`the id ${value} is there twice`);
      if (name === "id") ids.add(value);
    }
    if (/^<style\b/i.test(tag)) errors.push("a style element");
    if (/^<script\b/i.test(tag) && !/\ssrc=/.test(tag)) errors.push("an inline script");
  }
  return errors;
}

/** Returns what is wider than the page, if the page can be scrolled sideways. */
export async function sidewaysScroll(page) {
  return page.evaluate(() => {
    const root = document.scrollingElement;
    const width = root.clientWidth;
    if (root.scrollWidth <= width) return null;
    const wide = [...document.body.querySelectorAll("*")].filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return right > width + 1 || left < -1;
    });
    const names = wide.slice(0, 4).map((element) => `${element.tagName.toLowerCase()}.${element.className?.baseVal ?? element.className}`);
    return `${root.scrollWidth} px in ${width} px: ${names.join(", ")}`;
  });
}

/** The largest spacing of text that a page must bear (WCAG 2.2, 1.4.12). */
const SPACING = "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }\
  p { margin-block-end: 2em !important }";

/** Applies a style to a page, which the policy of the page does not stop, and returns what is wrong with the result. */
async function withStyle(page, css, check) {
  await page.evaluate((css) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    document.adoptedStyleSheets = [sheet];
  }, css);
  try {
    return await check();
  } finally {
    await page.evaluate(() => { document.adoptedStyleSheets = []; });
  }
}

/** Returns elements whose text is cut off. Excerpts that end after some lines are meant so. */
function cutText(page) {
  return page.evaluate(() => {
    const cut = [...document.body.querySelectorAll("*")].filter((element) => {
      const style = getComputedStyle(element);
      if (!/hidden|clip/.test(style.overflowX + style.overflowY) || !element.innerText?.trim()) return false;
      if (style.webkitLineClamp !== "none" || style.clipPath !== "none" || style.position === "absolute") return false;
      return element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1;
    });
    return cut.slice(0, 4).map((element) => `${element.tagName.toLowerCase()}.${element.className} "${element.innerText.slice(0, 40)}"`);
  });
}

/** Returns fields with text below 16 px, in which phones zoom in. */
function smallFields(page) {
  return page.evaluate(() => {
    const fields = [...document.querySelectorAll("input, select, textarea")].filter((field) =>
      !["hidden", "checkbox", "radio", "color", "file"].includes(field.type) && field.checkVisibility() && !field.closest(".hidden"));
    return fields.filter((field) => parseFloat(getComputedStyle(field).fontSize) < 16).map((field) => field.name);
  });
}

/** Opens everything that can be unfolded, or folds it as it was. */
const unfold = (page, isOpen) => page.evaluate((isOpen) => {
  for (const details of document.querySelectorAll(isOpen ? "details:not([open])" : "details[data-unfolded]")) {
    details.open = isOpen;
    details.toggleAttribute("data-unfolded", isOpen);
  }
}, isOpen);

/** Checks that the page bears 320 px, larger spacing, larger text and zoom. */
export async function checkReflow(page) {
  const problems = [];
  const note = (what, problem) => problem && problems.push(`${what}: ${problem}`);
  const { width, height } = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 800 });
  note("scrolls sideways at 320 px", await sidewaysScroll(page));
  await unfold(page, true);
  note("scrolls sideways at 320 px when unfolded", await sidewaysScroll(page));
  for (const field of await smallFields(page)) note("has a field with text below 16 px", field);
  await unfold(page, false);
  await withStyle(page, SPACING, async () => {
    note("scrolls sideways at 320 px with more spacing", await sidewaysScroll(page));
    for (const cut of await cutText(page)) note("cuts off text with more spacing", cut);
  });
  // 1280 px at 200 % have 640 px for the page.
  await page.setViewportSize({ width: 640, height: 400 });
  note("scrolls sideways at 200 % zoom", await sidewaysScroll(page));
  await page.setViewportSize({ width: 1280, height: 800 });
  await withStyle(page, "html { font-size: 200% !important }", async () => {
    note("scrolls sideways with text of 200 %", await sidewaysScroll(page));
    for (const cut of await cutText(page)) note("cuts off text of 200 %", cut);
  });
  await page.setViewportSize({ width, height });
  return problems;
}

/** Number of stops after which the keyboard is taken to be trapped. */
const MAX_STOPS = 400;

/** Kinds of elements whose focus was compared pixel by pixel already. */
const compared = new Set();

/** Goes through a page with the Tab key. Elements of one look are compared once for each `kind` of page. */
export async function checkKeyboard(page, { kind, startsMidway }) {
  const problems = [];
  await page.evaluate(() => window.scrollTo(0, 0));
  const expected = await page.evaluate(() => {
    const reachable = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")];
    const groups = new Set();
    return reachable.filter((element) => {
      if (element.disabled || element.tabIndex < 0 || element.type === "hidden") return false;
      // The arrow keys move within a group of radio buttons.
      if (element.type === "radio") return !groups.has(element.name) && groups.add(element.name);
      return element.checkVisibility({ visibilityProperty: true });
    }).length;
  });
  let stops = 0;
  let previous = -1;
  // A page with a problem or a fragment begins in its middle, and reaches its start after its end.
  let mayWrap = startsMidway;
  const visited = new Set();
  for (; stops < MAX_STOPS; stops += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body || element === document.documentElement) return null;
      const all = [...document.querySelectorAll("*")];
      const box = [...element.getClientRects()].find(({ width, height }) => width > 0 && height > 0);
      const style = getComputedStyle(element);
      const between = (from, to, end) => (Math.max(from, 0) + Math.min(to, end)) / 2;
      const middle = box && document.elementFromPoint(between(box.left, box.right, innerWidth), between(box.top, box.bottom, innerHeight));
      const label = element.labels?.[0];
      return {
        order: all.indexOf(element),
        name: `${element.tagName.toLowerCase()}${element.className ? `.${element.className}` : ""} "${(element.innerText || element.getAttribute("aria-label") || element.name || "").slice(0, 40)}"`,
        kind: `${element.tagName}.${element.className}.${element.getAttribute("aria-pressed")}.${element.getAttribute("aria-current")}.${element.parentElement?.className}`,
        isDate: ["date", "datetime-local"].includes(element.type),
        isSkipLink: element.getAttribute("href") === "#main",
        box: box && { x: box.left, y: box.top, width: box.width, height: box.height },
        isTopmost: Boolean(middle && (element.contains(middle) || middle.contains(element) || label?.contains(middle))),
        outline: style.outlineStyle !== "none" ? Number.parseFloat(style.outlineWidth) : 0,
        isInView: Boolean(box && box.bottom > 0 && box.top < innerHeight),
      };
    });
    if (!stop && mayWrap) {
      mayWrap = false;
      previous = -1;
      stops -= 1;
      continue;
    }
    // A field for a date has several stops of its own.
    if (stop?.isDate && stop.order === previous) {
      stops -= 1;
      continue;
    }
    if (!stop || visited.has(stop.order)) break;
    visited.add(stop.order);
    if (stops === 0 && !startsMidway && !stop.isSkipLink) problems.push(`the first stop is ${stop.name}, not the link to the content`);
    if (stop.order <= previous && !mayWrap) problems.push(`${stop.name} comes before what precedes it in the document`);
    if (stop.order <= previous) mayWrap = false;
    previous = stop.order;
    if (!stop.box || !stop.isInView) problems.push(`${stop.name} is not in view with focus`);
    else if (!stop.isTopmost) problems.push(`${stop.name} is covered with focus`);
    const seen = `${kind} ${stop.kind}`;
    if (stop.box && stop.isInView && !compared.has(seen)) {
      compared.add(seen);
      if (!(await changesWithFocus(page, stop.box))) problems.push(`${stop.name} looks the same with focus and without`);
    }
  }
  if (stops >= MAX_STOPS) problems.push(`after ${MAX_STOPS} stops the keyboard is still on the page`);
  if (stops < expected) problems.push(`${stops} stops, but ${expected} elements are to be reached`);
  return problems.map((problem) => `keyboard: ${problem}`);
}

/** Compares the picture of the focused element with that without focus. The mark may be around what contains it. */
async function changesWithFocus(page, box) {
  const margin = 6;
  const { width, height } = page.viewportSize();
  const x = Math.max(0, box.x - margin);
  const y = Math.max(0, box.y - margin);
  const clip = { x, y, width: Math.min(width - x, box.width + 2 * margin), height: Math.min(height - y, box.height + 2 * margin) };
  const picture = (clip) => page.screenshot({ clip, caret: "hide", animations: "disabled" });
  const element = await page.evaluateHandle(() => document.activeElement);
  const compare = async (clip) => {
    const focused = await picture(clip);
    await element.evaluate((element) => element.blur());
    const blurred = await picture(clip);
    // The next Tab goes on from here.
    await element.evaluate((element) => element.focus({ preventScroll: true, focusVisible: true }));
    return !focused.equals(blurred);
  };
  return (await compare(clip)) || compare(undefined);
}
