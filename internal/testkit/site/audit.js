// Defects of a page that keep people from reading it: the cheap part of what accessibility checkers
// look for. The value is a list of sentences.
(() => {
  const defects = [];
  const where = (e) => e.outerHTML.slice(0, 120).replace(/\s+/g, " ");

  if (!document.documentElement.lang) defects.push("the page has no language");
  if (!document.title) defects.push("the page has no title");
  if (!document.querySelector("main")) defects.push("the page has no main landmark");
  if (!document.querySelector('meta[name=viewport]')) defects.push("the page has no viewport");

  let level = 0;
  const headings = [...document.querySelectorAll("article h1, article h2, article h3, article h4, article h5, article h6")];
  if (headings.filter((h) => h.tagName === "H1").length !== 1) defects.push("the page has not one first heading");
  for (const h of headings) {
    const next = Number(h.tagName[1]);
    if (next > level + 1) defects.push(`a heading skips a level: ${h.textContent}`);
    level = next;
  }

  const ids = new Set();
  for (const e of document.querySelectorAll("[id]")) {
    if (ids.has(e.id)) defects.push(`the id ${e.id} occurs twice`);
    ids.add(e.id);
  }
  for (const image of document.querySelectorAll("img")) {
    if (!image.alt) defects.push(`an image has no text: ${where(image)}`);
  }
  for (const e of document.querySelectorAll("a[href], button, input")) {
    if (e.checkVisibility() && !(e.textContent.trim() || e.ariaLabel || e.title || e.labels?.length || e.placeholder || e.querySelector("img[alt]"))) {
      defects.push(`a control has no name: ${where(e)}`);
    }
  }
  for (const table of document.querySelectorAll("article table")) {
    if (!table.querySelector("th")) defects.push(`a table has no headings: ${where(table)}`);
  }

  // Contrast of text of the article with the colour that is painted below it.
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const luminance = (c) => {
    const [r, g, b] = c.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (e) => (e === null ? [255, 255, 255, 1] : ((c) => (c[3] === 1 ? c : over(c, background(e.parentElement))))(rgba(getComputedStyle(e).backgroundColor)));
  const seen = new Set();
  const texts = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !e.checkVisibility({ opacityProperty: true }) || e.closest(".headerlink")) continue;
    const style = getComputedStyle(e);
    const below = background(e);
    const kind = [style.color, below, parseFloat(style.fontSize) >= 24].join();
    if (seen.has(kind)) continue;
    seen.add(kind);
    const [a, b] = [luminance(over(rgba(style.color), below)), luminance(below)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) defects.push(`contrast ${ratio.toFixed(2)}: ${where(e)}`);
  }
  return defects;
})()
