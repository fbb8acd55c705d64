// Files with scripts that would run if they were served with their real content type.

const SCRIPT = "alert(document.domain)";
const ELSEWHERE = "http://elsewhere.example/asked";

const svg = (inside, attributes = "") =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inside}</svg>`;
const html = (inside) => `<!DOCTYPE html><html><body>${inside}</body></html>`;
const utf16 = (text) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
const png = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de", "hex");
const gif = Buffer.from("GIF89a", "latin1");
const pdf = (action) =>
  `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<<${action}>>>>endobj\n` +
  "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>";
const behind = (head, text) => Buffer.concat([head, Buffer.from(text)]);

/** Bodies by what they are; each is sent under several names and types. */
const bodies = {
  "svg-script": svg(`<script>${SCRIPT}</script>`),
  "svg-onload": svg("", `onload="${SCRIPT}"`),
  "svg-foreign": svg(`<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="${SCRIPT}"/></body></foreignObject>`),
  "svg-use": svg(`<use href="${ELSEWHERE}#x"/><image href="${ELSEWHERE}"/>`),
  "svg-animate": svg(`<a><animate attributeName="href" values="javascript:${SCRIPT}"/><text y="9">x</text></a><set attributeName="onmouseover" to="${SCRIPT}"/>`),
  "svg-style": svg(`<style>@import "${ELSEWHERE}";</style>`),
  "svg-declared": `<?xml version="1.0"?><!DOCTYPE svg>${svg(`<script>${SCRIPT}</script>`)}`,
  "svg-entity": `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x "&#60;script>${SCRIPT}&#60;/script>">]>${svg("&x;")}`,
  "html-script": html(`<script>${SCRIPT}</script>`),
  "html-image": html(`<img src="${ELSEWHERE}" onerror="${SCRIPT}">`),
  "html-frame": html(`<iframe srcdoc="<script>parent.${SCRIPT}</script>"></iframe>`),
  "html-refresh": html(`<meta http-equiv="refresh" content="0;url=javascript:${SCRIPT}">`),
  "html-bare": `<script>${SCRIPT}</script>`,
  "html-late": `${" ".repeat(600)}<script>${SCRIPT}</script>`,
  "html-wide": utf16(`<script>${SCRIPT}</script>`),
  "html-utf7": "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
  "xhtml": `<html xmlns="http://www.w3.org/1999/xhtml"><script>${SCRIPT}</script></html>`,
  "xml-style": `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="${ELSEWHERE}"?><a/>`,
  "xslt": `<?xml version="1.0"?><?xml-stylesheet type="text/xml" href="#s"?><xsl:stylesheet id="s" version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><script xmlns="http://www.w3.org/1999/xhtml">${SCRIPT}</script></xsl:template></xsl:stylesheet>`,
  "javascript": SCRIPT,
  "css": `@import "${ELSEWHERE}"; body { background: url("${ELSEWHERE}") }`,
  "pdf-script": pdf(`/S/JavaScript/JS(app.alert\\(1\\))`),
  "pdf-url": pdf(`/S/URI/URI(${ELSEWHERE})`),
  "mhtml": `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<script>${SCRIPT}</script>\r\n--b--`,
  "manifest": `CACHE MANIFEST\n${ELSEWHERE}`,
  "png-html": behind(png, html(`<script>${SCRIPT}</script>`)),
  "gif-javascript": behind(gif, `=1;${SCRIPT}`),
  "gif-html": behind(gif, `<script>${SCRIPT}</script>`),
  "jpeg-html": behind(Buffer.from([0xff, 0xd8, 0xff, 0xe0]), `JFIF<script>${SCRIPT}</script>`),
  "riff-html": behind(Buffer.from("RIFF    WEBPVP8 ", "latin1"), `<script>${SCRIPT}</script>`),
};

const truthful = (name) => {
  if (name.startsWith("svg")) return ["svg", "image/svg+xml"];
  if (name.startsWith("pdf")) return ["pdf", "application/pdf"];
  if (name === "xhtml") return ["xhtml", "application/xhtml+xml"];
  if (name.startsWith("x")) return ["xml", "text/xml"];
  if (name === "javascript") return ["js", "text/javascript"];
  if (name === "css") return ["css", "text/css"];
  if (name === "mhtml") return ["mhtml", "message/rfc822"];
  if (name === "manifest") return ["appcache", "text/cache-manifest"];
  return ["html", "text/html"];
};

/** Each body once as what it is and once as the picture that it is not. */
export const files = Object.entries(bodies).flatMap(([name, body]) => {
  const [ending, type] = truthful(name);
  return [
    { name: `${name}.${ending}`, type, body },
    { name: `${name}.${ending}.png`, type: "image/png", body },
  ];
});
