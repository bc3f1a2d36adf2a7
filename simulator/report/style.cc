// The style sheet. Colours are variables, so that dark pages and paper change them in one place.
//
// Rules: after Okabe and Ito's palette for colour-blind readers, darkened or lightened until each
// has a contrast of 3 to the page. Shades of heat maps: one hue, and on each shade a text colour
// with a contrast of 4.5; tests/report/style_test.cc computes both.

#include "simulator/report/page.h"

namespace boba::sim::report {

std::string_view style_sheet() {
  return R"css(
:root {
  --page: #ffffff; --ink: #1b2126; --muted: #59636d; --line: #c9d0d7; --faint: #e7ebee;
  --ground: #f4f6f8; --accent: #0b5fa5; --tip: #1b2126; --tip-ink: #ffffff;
  --c0: #0072b2; --c1: #d55e00; --c2: #00855f; --c3: #b34d88;
  --c4: #8f7000; --c5: #2b8fc9; --c6: #4a5058; --c7: #8c2d19;
  --c8: #6a3fb5; --c9: #5f8f00; --c10: #c2185b; --c11: #007c91;
  --h0: #f0f5fa; --h1: #dce8f4; --h2: #c3d9ed; --h3: #a3c6e3; --h4: #7db0d8;
  --h5: #5a9ccd; --h6: #2f74ad; --h7: #1c5d97; --h8: #0c4277;
  --k0: #10202f; --k1: #10202f; --k2: #10202f; --k3: #10202f; --k4: #10202f;
  --k5: #10202f; --k6: #ffffff; --k7: #ffffff; --k8: #ffffff;
  --honest-in: #c3d9ed; --honest-out: #e69f00; --byzantine-in: #c3320b; --byzantine-out: #d4d8dc;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #12161a; --ink: #e6eaee; --muted: #a0abb5; --line: #46505a; --faint: #262d34;
    --ground: #1a2026; --accent: #6cb6f0; --tip: #e6eaee; --tip-ink: #12161a;
    --c0: #5cb3e8; --c1: #ff8c42; --c2: #3ccfa6; --c3: #e79ac6;
    --c4: #e3c04a; --c5: #9ad7fb; --c6: #b9c1c9; --c7: #e08a78;
    --c8: #b39df2; --c9: #b5d94c; --c10: #ff7aa8; --c11: #4fd3e6;
    --h0: #1a242e; --h1: #1c3044; --h2: #1e3d5c; --h3: #204c78; --h4: #255d93;
    --h5: #2f70ab; --h6: #5d97cb; --h7: #8ab6de; --h8: #bcd6ee;
    --k0: #e6eaee; --k1: #e6eaee; --k2: #ffffff; --k3: #ffffff; --k4: #ffffff;
    --k5: #ffffff; --k6: #0b141c; --k7: #0b141c; --k8: #0b141c;
    --honest-in: #2b5378; --honest-out: #f0b429; --byzantine-in: #ff6b45; --byzantine-out: #3b444d;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 40px 24px 96px; }
h1 { font-size: 2.1rem; line-height: 1.15; font-weight: 650; letter-spacing: -0.015em; margin: 0 0 8px;
  overflow-wrap: anywhere; }
h2 { font-size: 1.4rem; line-height: 1.25; font-weight: 620; letter-spacing: -0.01em; margin: 0 0 14px;
  overflow-wrap: anywhere; }
h3 { font-size: 1.12rem; font-weight: 620; margin: 0 0 12px; }
h4 { font-size: 0.95rem; font-weight: 620; margin: 18px 0 6px; overflow-wrap: anywhere; }
p { margin: 0 0 12px; max-width: 46em; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px; }
code { font-size: 0.92em; background: var(--ground); padding: 1px 5px; border-radius: 4px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.lead { color: var(--muted); overflow-wrap: anywhere; }
.conclusion { font-size: 1.16rem; line-height: 1.5; padding-left: 14px;
  border-left: 3px solid var(--accent); margin: 18px 0; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr));
  gap: 12px 28px; margin: 22px 0 14px; }
.facts .long { grid-column: span 2; }
.facts dt { color: var(--muted); font-size: 0.8rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
details { margin: 6px 0 14px; }
summary { cursor: pointer; color: var(--accent); font-size: 0.9rem; }
.contents { margin: 26px 0 8px; padding: 14px 0; border-top: 1px solid var(--faint);
  border-bottom: 1px solid var(--faint); font-size: 0.92rem; }
.contents ol { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 4px 22px; }
.contents ol ol { margin: 2px 0 10px; gap: 2px 16px; font-size: 0.88rem; flex-basis: 100%; }
.contents li { overflow-wrap: anywhere; }
.contents > ol > li:has(ol) { flex-basis: 100%; }
.part { margin: 52px 0 0; }
.chapter { margin: 72px 0 0; padding-top: 28px; border-top: 2px solid var(--line); }
.chapter > h2 span { color: var(--muted); font-weight: 400; margin-right: 6px; }
.chapter .part { margin-top: 40px; }
figure { margin: 0; }
figcaption { margin-top: 12px; color: var(--muted); font-size: 0.88rem; max-width: 52em;
  overflow-wrap: anywhere; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(330px, 100%), 1fr));
  gap: 22px 28px; }
.panels.small { grid-template-columns: repeat(auto-fill, minmax(min(230px, 100%), 1fr)); gap: 14px 24px; }
.panels.tall { grid-template-columns: repeat(auto-fill, minmax(min(310px, 100%), 1fr)); }
.panels.roomy { grid-template-columns: repeat(auto-fill, minmax(min(500px, 100%), 1fr)); }
.wide { overflow-x: auto; }
svg { display: block; max-width: 100%; height: auto; overflow: visible; }
svg.panel { width: 100%; }
svg.panel.mix { width: auto; }
svg.bars, svg.strip { min-width: 700px; }
svg.matrix { max-width: none; }
svg.key { margin-top: 10px; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  fill: var(--ink); font-variant-numeric: tabular-nums; }
svg .heading { font-size: 13px; font-weight: 620; }
svg .tick, svg .note, svg .small { font-size: 10.5px; }
svg .tick, svg .note { fill: var(--muted); }
svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
.grid { stroke: var(--faint); } .axis { stroke: var(--line); }
.whisker { stroke: var(--ink); stroke-width: 1.2; }
.empty { fill: none; stroke: var(--faint); } .ground { fill: var(--ground); }
.catch { fill: transparent; } .catch:hover { fill: var(--ink); fill-opacity: 0.12; }
.c0 { --hue: var(--c0); } .c1 { --hue: var(--c1); } .c2 { --hue: var(--c2); } .c3 { --hue: var(--c3); }
.c4 { --hue: var(--c4); } .c5 { --hue: var(--c5); } .c6 { --hue: var(--c6); } .c7 { --hue: var(--c7); }
.c8 { --hue: var(--c8); } .c9 { --hue: var(--c9); } .c10 { --hue: var(--c10); }
.c11 { --hue: var(--c11); }
.v0 { --filling: 1; --edge: none; } .v1 { --filling: 0.35; --edge: none; }
.v2 { --filling: 0; --edge: 4 2; }
.d0 { --dash: none; } .d1 { --dash: 8 3; } .d2 { --dash: 14 3 3 3; } .d3 { --dash: 3 2.5; }
.d4 { --dash: 12 3 3 3 3 3; } .d5 { --dash: 5 5; } .d6 { --dash: 20 4; }
.series .mean { fill: none; stroke: var(--hue); stroke-width: 2; stroke-dasharray: var(--dash);
  stroke-linejoin: round; }
.series .band { fill: var(--hue); fill-opacity: 0.15; }
.series .bar, .series .dot { fill: var(--hue); }
.series .bar { fill-opacity: var(--filling); stroke: var(--hue); stroke-width: 1.5;
  stroke-dasharray: var(--edge); }
.series .mark { stroke: var(--hue); stroke-width: 3; }
svg .series.name, svg text.series { fill: var(--hue); font-size: 11px; font-weight: 600; }
.dimmed .series { opacity: 0.14; } .dimmed .series.lit { opacity: 1; }
.h0 { fill: var(--h0); } .h1 { fill: var(--h1); } .h2 { fill: var(--h2); } .h3 { fill: var(--h3); }
.h4 { fill: var(--h4); } .h5 { fill: var(--h5); } .h6 { fill: var(--h6); } .h7 { fill: var(--h7); }
.h8 { fill: var(--h8); }
svg .k0 { fill: var(--k0); } svg .k1 { fill: var(--k1); } svg .k2 { fill: var(--k2); }
svg .k3 { fill: var(--k3); } svg .k4 { fill: var(--k4); } svg .k5 { fill: var(--k5); }
svg .k6 { fill: var(--k6); } svg .k7 { fill: var(--k7); } svg .k8 { fill: var(--k8); }
.matrix text { pointer-events: none; }
.honest-in { fill: var(--honest-in); --chip: var(--honest-in); }
.honest-out { fill: var(--honest-out); --chip: var(--honest-out); }
.byzantine-in { fill: var(--byzantine-in); --chip: var(--byzantine-in); }
.byzantine-out { fill: var(--byzantine-out); --chip: var(--byzantine-out); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 8px; padding: 0; margin: 0 0 14px; }
.legend button { display: flex; align-items: center; gap: 8px; font: inherit; font-size: 0.88rem;
  color: inherit; background: none; border: 1px solid transparent; border-radius: 6px;
  padding: 2px 10px 2px 6px; cursor: pointer; }
.legend button:hover, .legend button[aria-pressed="true"] { border-color: var(--line); }
.legend.still { gap: 4px 20px; font-size: 0.88rem; }
.legend.still li { display: flex; align-items: center; gap: 7px; }
.chip { width: 13px; height: 13px; border-radius: 2px; background: var(--chip); }
table { border-collapse: collapse; font-size: 0.87rem; font-variant-numeric: tabular-nums; }
table.sortable { width: 100%; }
th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--faint);
  vertical-align: top; overflow-wrap: anywhere; }
th.n, td.n { text-align: right; white-space: nowrap; overflow-wrap: normal; }
thead th { border-bottom: 1px solid var(--line); white-space: nowrap; }
th button { font: inherit; font-weight: 620; color: inherit; background: none; border: 0; padding: 0;
  cursor: pointer; }
th button::after { content: "\2195"; opacity: 0.28; margin-left: 4px; font-weight: 400; }
th[aria-sort="ascending"] button::after { content: "\2191"; opacity: 1; }
th[aria-sort="descending"] button::after { content: "\2193"; opacity: 1; }
tbody tr:hover { background: var(--ground); }
.config th { font-weight: 400; color: var(--muted); padding-right: 24px; }
.failed td:nth-last-child(1) { color: var(--byzantine-in); }
.chooser { display: inline-flex; gap: 8px; align-items: center; margin-bottom: 12px; font-size: 0.9rem; }
select { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line);
  border-radius: 6px; padding: 3px 6px; max-width: 80vw; }
.hair { stroke: var(--muted); stroke-dasharray: 2 2; pointer-events: none; }
#tip { position: fixed; z-index: 5; pointer-events: none; background: var(--tip); color: var(--tip-ink);
  font-size: 12.5px; line-height: 1.45; padding: 6px 10px; border-radius: 6px; max-width: 340px;
  white-space: pre-line; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  main { padding: 24px 16px 64px; } h1 { font-size: 1.6rem; } .facts .long { grid-column: auto; }
}
@media print {
  @page { margin: 14mm 12mm; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  .contents, .chooser, #tip, summary { display: none; }
  .wide { overflow: visible; }
  svg.bars, svg.strip { min-width: 0; width: 100%; }
  svg.matrix { max-width: 100%; }
  svg.panel, .wide > svg, tr { break-inside: avoid; }
  h2, h3, h4, .legend, .facts { break-after: avoid; }
  .facts { grid-template-columns: repeat(3, 1fr); }
  figcaption { break-before: avoid; }
  .part { margin-top: 26px; }
  .panels { grid-template-columns: repeat(2, 1fr); }
  .panels.small { grid-template-columns: repeat(4, 1fr); gap: 10px; }
  .panels.tall { grid-template-columns: repeat(3, 1fr); }
  .panels.roomy { grid-template-columns: repeat(2, 1fr); gap: 12px; }
  svg.panel.mix { width: 100%; }
  table { font-size: 8.5pt; }
  thead { display: table-header-group; break-inside: avoid; }
  svg.bars text, svg.strip text { font-size: 13.5px; }
  th button::after { content: none; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
)css";
}

}  // namespace boba::sim::report
