// Writes random fragments of HTML: trees of inline and block elements, some of them broken.
//
//     node generate.mjs --out generated.json
//
// The same seed gives the same bytes.

import fs from "node:fs";

const COUNT = 300;
const SEED = 20_240_229;

/** Names that are there more than once are drawn more often. */
const INLINE = [
  "span", "span", "span", "a", "a", "b", "code", "del", "em", "i", "s", "span", "strong", "sub", "sup", "u",
  "font", "small", "ins", "mark", "kbd",
];
const BLOCK = [
  "div", "div", "div", "div", "div", "p", "p", "p", "p", "blockquote", "h1", "h2", "h3", "h4", "p", "div", "section",
  "article", "h5", "h6", "address", "figure", "center", "main", "header", "footer", "nav", "aside",
];

/** Elements whose content follows rules of its own. */
const SPECIAL = ["list", "list", "table", "table", "dl", "details", "figure", "pre", "hr", "br", "br"];

const WORDS = (
  "export board vote reply inbox filter label the a of we cannot when page slow again please thanks mobile " +
  "Kunden Übersicht größer Straße naïve café C++ v2.1 50% (beta) «draft» خطأ رسالة שלום ok-ish e-mail 12:30 – … :-)"
).split(" ");
const ENTITIES = ["&amp;", "&lt;b&gt;", "&quot;", "&nbsp;", "&#160;", "&euro;", "&#x2713;", "&mdash;", "&copy", "&hellip;", "AT&T", "R&D;"];
const SPACES = [" ", " ", " ", " ", " ", " ", "  ", "\n", "\n  ", "\t", " \n", "&nbsp;", "&nbsp; "];

/** Returns a generator of numbers from 0 up to 1 (mulberry32). */
function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

class Generator {
  constructor(seed) {
    this.next = numbers(seed);
  }

  chance(share) {
    return this.next() < share;
  }

  below(limit) {
    return Math.floor(this.next() * limit);
  }

  from(list) {
    return list[this.below(list.length)];
  }

  times(least, most, make) {
    return Array.from({ length: least + this.below(most - least + 1) }, make).join("");
  }

  /** White space between elements, which mostly is not shown. */
  gap() {
    return this.from(["", "", "", " ", "\n", "\n  ", "\t"]);
  }

  text() {
    const word = () => (this.chance(0.08) ? this.from(ENTITIES) : this.from(WORDS));
    const text = word() + this.times(0, 5, () => this.from(SPACES) + word());
    // Text touches its neighbours without a space as often as not.
    return (this.chance(0.4) ? this.from(SPACES) : "") + text + (this.chance(0.4) ? this.from(SPACES) : "");
  }

  attributes(name) {
    if (name === "a") return this.chance(0.8) ? ` href="https://docs.example/${this.below(100)}"` : "";
    if (name === "font") return this.from([" size=2", ' color="#333333"', ' face="Arial, sans-serif"']);
    if (this.chance(0.75)) return "";
    const styles = ["color:#1f2937", "font-size:13px;line-height:1.5", "margin: 0 0 12px", "font-weight:bold"];
    const shown = { span: "display:block", div: "display:inline", p: "margin:0" }[name];
    const options = [
      ' class="x1"', " class='msg  body'", ' dir="ltr"', " data-id=7", ' title="a &gt; b"', ' lang="de"',
      ` style="${this.from(styles)}"`, ` style="${this.from(styles)}"`,
      ...(shown ? [` style="${shown}"`] : []),
      ...(this.chance(0.3) ? [" hidden", ' style="display:none"', ' style="display: none !important; color:red"'] : []),
    ];
    return this.from(options);
  }

  /** Makes an element, and now and then breaks it. */
  element(name, inside, attributes = this.attributes(name)) {
    const tag = this.chance(0.04) ? name.toUpperCase() : name;
    const end = this.chance(0.04) ? "" : `</${tag}>`;
    const stray = this.chance(0.02) ? `</${this.from([...INLINE, ...BLOCK])}>` : "";
    return `<${tag}${attributes}>${inside}${end}${stray}`;
  }

  inline(depth) {
    if (depth <= 0 || this.chance(0.55)) return this.text();
    if (this.chance(0.1)) return this.from(["<br>", "<br/>", "<br />", "<BR>"]);
    if (this.chance(0.04)) return `<b>${this.text()}<i>${this.text()}</b>${this.text()}</i>`;
    return this.element(this.from(INLINE), this.phrase(depth - 1));
  }

  phrase(depth) {
    return this.times(1, 3, () => this.inline(depth));
  }

  /** What stands in a block: text, blocks, or both. */
  flow(depth) {
    if (depth <= 0 || this.chance(0.5)) return this.phrase(depth);
    return this.times(1, 3, () => this.gap() + (this.chance(0.3) ? this.inline(depth - 1) : this.block(depth - 1)));
  }

  block(depth) {
    if (this.chance(0.4)) return this.special(this.from(SPECIAL), depth);
    // An inline element around blocks.
    if (this.chance(0.08)) return this.element(this.from(["span", "b", "a", "font", "em"]), this.flow(depth));
    if (this.chance(0.08)) return this.from(["<div><br></div>", "<p>&nbsp;</p>", "<p></p>", "<div></div>", "<p><br></p>"]);
    const name = this.from(BLOCK);
    const isPhrase = name === "p" || /^h\d$/.test(name);
    return this.element(name, isPhrase && this.chance(0.95) ? this.phrase(depth) : this.flow(depth));
  }

  special(name, depth) {
    const inner = () => (this.chance(0.6) ? this.phrase(depth) : this.flow(depth - 1));
    switch (name) {
      case "list": {
        const list = this.from(["ul", "ul", "ol"]);
        const start = list === "ol" && this.chance(0.3) ? ` start="${2 + this.below(8)}"` : undefined;
        const items = this.times(1, 4, () => `${this.gap()}${this.chance(0.12) ? `<li>${inner()}` : this.element("li", inner(), "")}`);
        return this.element(list, items + this.gap(), start);
      }
      case "table": {
        const columns = 1 + this.below(4);
        const cell = (kind) => `${this.gap()}${this.element(kind, this.chance(0.1) ? "" : inner(), this.chance(0.2) ? ' align="left"' : "")}`;
        const row = (kind) => `${this.gap()}<tr>${Array.from({ length: columns }, () => cell(kind)).join("")}${this.gap()}</tr>`;
        const caption = this.chance(0.2) ? `<caption>${this.phrase(1)}</caption>` : "";
        const head = this.chance(0.4) ? `<thead>${row("th")}</thead>` : "";
        const rows = this.times(1, 3, () => row("td"));
        const body = head || this.chance(0.5) ? `<tbody>${rows}</tbody>` : rows;
        return `<table${this.from(["", ' border="1"', ' role="presentation" cellpadding="0"'])}>${caption}${head}${body}</table>`;
      }
      case "dl":
        return this.element("dl", this.times(1, 3, () => `${this.gap()}<dt>${this.phrase(1)}</dt>${this.gap()}<dd>${inner()}</dd>`));
      case "details":
        return `<details open><summary>${this.phrase(1)}</summary>${this.gap()}${this.flow(depth - 1)}</details>`;
      case "figure":
        return `<figure><img src="https://files.example/${this.below(100)}.png" alt="a picture"><figcaption>${this.phrase(1)}</figcaption></figure>`;
      case "pre": {
        const lines = this.times(1, 4, () => `${this.from(["", "  ", "\t"])}${this.from(WORDS)} = ${this.from(WORDS)}${this.from(["\n", "\n", "\n\n", ";\n"])}`);
        return this.chance(0.5) ? `<pre><code>${lines}</code></pre>` : `<pre>${this.gap()}${lines}</pre>`;
      }
      case "hr":
        return this.from(["<hr>", "<hr/>", "<hr width=100%>"]);
      default:
        return "<br>";
    }
  }

  fragment() {
    const depth = 1 + this.below(4);
    return this.times(1, 5, () => (this.chance(0.25) ? this.inline(depth) : this.block(depth)) + this.gap());
  }
}

const [flag, output] = process.argv.slice(2);
if (flag !== "--out" || !output) throw new Error("usage: node generate.mjs --out <generated.json>");
const fragments = Array.from({ length: COUNT }, (_, index) => {
  // A seed for each, so that a change of one fragment leaves the others as they are.
  const generator = new Generator(SEED + index * 7919);
  let html = generator.fragment();
  while (html.length < 40 || html.length > 2500) html = generator.fragment();
  return { source: "generated", name: String(index + 1).padStart(3, "0"), html };
});
fs.writeFileSync(output, `[\n${fragments.map((fragment) => JSON.stringify(fragment)).join(",\n")}\n]\n`);
