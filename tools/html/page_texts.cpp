#include "tools/html/page_texts.h"

namespace lull::tools {

const std::string_view page_style = R"css(
:root {
  color-scheme: light dark;
  --ink: #1d2330; --dim: #5b6475; --card: #fff; --page: #f1f3f6; --line: #dde1e8;
  --good: #17733a; --bad: #b3261e; --focus: #2f6fed;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ef; --dim: #a3acba; --card: #1c212b; --page: #12151b; --line: #39404d;
    --good: #63d48c; --bad: #ff8a80; --focus: #8ab4ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); }
main { max-width: 1100px; margin: 0 auto; padding: 20px; }
h1 { font-size: 22px; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 0 0 10px; }
h3 { font-size: 15px; margin: 18px 0 6px; }
p { margin: 8px 0; max-width: 75ch; }
section { background: var(--card); border-radius: 10px; padding: 18px 20px; margin: 14px 0; }
.tiles { display: flex; flex-wrap: wrap; gap: 14px 32px; }
.tiles div { color: var(--dim); font-size: 13px; overflow-wrap: anywhere; }
.tiles b { display: block; color: var(--ink); font-size: 21px; font-weight: 600; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); gap: 14px; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .key { fill: var(--card); }
svg .grid { stroke: var(--line); }
svg .mark { stroke: var(--dim); stroke-dasharray: 4 4; }
svg .done { fill: var(--good); }
svg .damaged { fill: var(--bad); }
svg .missing { fill: var(--line); }
.yes { color: var(--good); font-weight: 600; }
.no { color: var(--bad); font-weight: 600; }
.dim { color: var(--dim); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 3px 14px 3px 0; border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; }
tbody th { font-weight: 400; color: var(--dim); }
.figures td { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.figures thead th + th { text-align: right; }
figure { margin: 0 0 22px; max-width: 860px; }
figcaption { color: var(--dim); font-size: 13px; }
.stack { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 240px), 1fr)); gap: 6px; line-height: 0; }
.panel { position: relative; }
.panel span { position: absolute; left: 6px; top: 6px; padding: 1px 8px; border-radius: 8px; font-size: 13px; line-height: 1.5; color: #fff; background: #000a; }
img { width: 100%; height: auto; image-rendering: pixelated; background: #888; }
.live .stack { display: block; position: relative; overflow: hidden; }
.live .panel + .panel { position: absolute; inset: 0; clip-path: inset(0 calc(100% - var(--shown, 0%)) 0 0); }
.live .panel + .panel::after { content: ""; position: absolute; top: 0; bottom: 0; left: var(--shown, 0%); width: 2px; margin-left: -2px; background: #fff; }
.live .panel span { display: none; }
input[type="range"] { width: 100%; margin: 10px 0 2px; accent-color: var(--focus); }
.stops { display: flex; justify-content: space-between; }
button { font: inherit; font-size: 13px; padding: 5px 12px; color: var(--ink); background: transparent; border: 1px solid var(--line); border-radius: 8px; cursor: pointer; }
button[aria-pressed="true"] { border-color: var(--focus); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
@media (max-width: 600px) { main { padding: 8px; } section { padding: 14px 12px; border-radius: 8px; } }
@media print { section { break-inside: avoid; } .control { display: none; } }
)css";

const std::string_view page_script = R"js(
'use strict';
for (const figure of document.querySelectorAll('.compare')) {
  const control = figure.querySelector('.control');
  const range = control.querySelector('input');
  const panels = [...figure.querySelectorAll('.panel')];
  const names = panels.map(panel => panel.querySelector('span').textContent);
  const buttons = [...control.querySelectorAll('button')];
  const show = () => {
    const at = Number(range.value);
    panels.forEach((panel, i) => {
      const share = i === 0 ? 100 : Math.min(Math.max(at - 100 * (i - 1), 0), 100);
      panel.style.setProperty('--shown', share + '%');
    });
    buttons.forEach(b => b.setAttribute('aria-pressed', String(Number(b.dataset.at) === at)));
    const i = Math.min(Math.floor(at / 100), panels.length - 1), rest = at - 100 * i;
    range.setAttribute('aria-valuetext', rest === 0 ? names[i]
      : names[i + 1] + ' on the left ' + rest + ' %, ' + names[i] + ' on the right');
  };
  range.addEventListener('input', show);
  for (const button of buttons)
    button.addEventListener('click', () => { range.value = button.dataset.at; show(); });
  figure.classList.add('live');
  control.hidden = false;
  show();
}
)js";

}  // namespace lull::tools
