(() => {
"use strict";
const root = document.documentElement;
addEventListener("error", () => { root.dataset.errors = String(Number(root.dataset.errors) + 1); });

// Tables. Missing values stay last in both directions; equal ones keep their order.
const cellKey = (row, column, numeric) => {
  const cell = row.cells[column];
  if (!numeric) return cell.textContent;
  return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
};
const sortBy = (head, direction) => {
  const table = head.closest("table");
  const heads = [...head.parentElement.cells];
  const column = heads.indexOf(head);
  const numeric = head.classList.contains("n");
  const sign = direction === "descending" ? -1 : 1;
  const rows = [...table.tBodies[0].rows].map(row => [cellKey(row, column, numeric), row]);
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
  });
  table.tBodies[0].append(...rows.map(([, row]) => row));
  for (const each of heads) each.setAttribute("aria-sort", each === head ? direction : "none");
};
for (const head of document.querySelectorAll("table.sortable th[data-key]")) {
  head.querySelector("button").addEventListener("click", () => {
    sortBy(head, head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending");
  });
}
// #sort=accuracy, #sort=-accuracy: an address for a sorted table.
const sortFromAddress = () => {
  const wanted = /^#sort=(-?)([a-z]+)$/.exec(location.hash);
  if (!wanted) return;
  for (const head of document.querySelectorAll(`th[data-key="${wanted[2]}"]`)) {
    sortBy(head, wanted[1] ? "descending" : "ascending");
  }
};
addEventListener("hashchange", sortFromAddress);
sortFromAddress();

// Titles are for screen readers; as tool tips they would cover the values.
for (const title of document.querySelectorAll("svg > title")) {
  title.parentElement.setAttribute("aria-label", title.textContent);
  title.remove();
}

const tip = document.getElementById("tip");
const showTip = (text, x, y) => {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth ? x - box.width - 14 : x + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - box.height - 4))}px`;
};
const hideTip = () => { tip.hidden = true; };
addEventListener("pointermove", event => {
  const mark = event.target instanceof Element && event.target.closest("[data-tip]");
  if (mark) showTip(mark.dataset.tip, event.clientX, event.clientY);
  else if (!(event.target instanceof Element && event.target.closest("svg.lines"))) hideTip();
}, { passive: true });
addEventListener("scroll", hideTip, { passive: true });

// Lines: a hair at the nearest round and the values there, highest first.
const numbers = text => text.split(",").map(Number);
const linesOf = svg => [...svg.querySelectorAll("g.series")].map(g => ({
  label: g.dataset.label, x: numbers(g.dataset.x), y: numbers(g.dataset.y),
  low: numbers(g.dataset.low), high: numbers(g.dataset.high) }));
const nearest = (xs, x) => xs.reduce((best, each, i) =>
  Math.abs(each - x) < Math.abs(xs[best] - x) ? i : best, 0);
for (const svg of document.querySelectorAll("svg.lines")) {
  const [x0, x1, left, right] = ["x0", "x1", "left", "right"].map(key => Number(svg.dataset[key]));
  let lines = null, rounds = [], at = -1, hair = null;
  const start = () => {
    if (lines) return;
    lines = linesOf(svg);
    rounds = [...new Set(lines.flatMap(line => line.x))].sort((a, b) => a - b);
    hair = document.createElementNS("http://www.w3.org/2000/svg", "line");
    hair.setAttribute("class", "hair");
    hair.setAttribute("y1", svg.dataset.top);
    hair.setAttribute("y2", svg.dataset.bottom);
    svg.append(hair);
  };
  const show = (place, clientX, clientY) => {
    if (place < 0 || place >= rounds.length) return;
    at = place;
    const round = rounds[at];
    const x = x1 > x0 ? left + (right - left) * (round - x0) / (x1 - x0) : (left + right) / 2;
    hair.setAttribute("x1", x);
    hair.setAttribute("x2", x);
    hair.style.display = "";
    const rows = [];
    for (const line of lines) {
      const i = line.x.indexOf(round);
      if (i < 0) continue;
      const range = line.high[i] > line.low[i]
        ? ` (${line.low[i].toFixed(1)} to ${line.high[i].toFixed(1)})` : "";
      rows.push([line.y[i], `${line.label}  ${line.y[i].toFixed(1)}${range}`]);
    }
    rows.sort((a, b) => b[0] - a[0]);
    showTip([`round ${round}`, ...rows.map(row => row[1])].join("\n"), clientX, clientY);
  };
  const hide = () => { if (hair) hair.style.display = "none"; hideTip(); };
  svg.addEventListener("pointermove", event => {
    start();
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    show(nearest(rounds, x0 + (x1 - x0) * (x - left) / (right - left)), event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    start();
    const box = svg.getBoundingClientRect();
    const place = at < 0 ? (step > 0 ? 0 : rounds.length - 1) : at + step;
    show(Math.max(0, Math.min(rounds.length - 1, place)), box.left + box.width / 2, box.bottom - 20);
  });
}

// Legends: the pressed rule stays bright, all over the page.
const codeOf = element => [...element.classList].filter(word => /^[cd]\d+$/.test(word)).join(".");
let pressed = "";
const bringOut = code => {
  document.body.classList.toggle("dimmed", code !== "");
  for (const element of document.querySelectorAll(".series")) {
    element.classList.toggle("lit", code !== "" && codeOf(element) === code);
  }
};
for (const button of document.querySelectorAll(".legend button")) {
  const code = codeOf(button);
  button.addEventListener("click", () => {
    pressed = pressed === code ? "" : code;
    for (const each of document.querySelectorAll(".legend button")) {
      each.setAttribute("aria-pressed", String(pressed !== "" && codeOf(each) === pressed));
    }
    bringOut(pressed);
  });
}

for (const select of document.querySelectorAll("select[data-chooser]")) {
  const choices = select.closest("figure").querySelectorAll(".choice");
  const choose = () => { for (const each of choices) each.hidden = each.id !== select.value; };
  select.addEventListener("change", choose);
  choose();
}

addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
});

root.dataset.ready = "yes";
})();
