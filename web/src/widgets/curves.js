// SPDX-License-Identifier: MIT
// Two distributions over each other, as curves: how many of all are below a value. Values are on a scale of powers of ten.
import { html } from '../ui.js';
import { duration, bytes, count } from '../text.js';

const W = 640, H = 180, LEFT = 44, BOTTOM = 24;

// sides: [{ name, points: [[percent, value], …] }]; unit of the values.
export function Curves({ sides, unit, label }) {
	const values = sides.flatMap((s) => s.points.map(([, v]) => v)).filter((v) => v > 0);
	if (!values.length) {
		return null;
	}
	const low = Math.floor(Math.log10(Math.min(...values))), high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
	const x = (v) => LEFT + ((Math.log10(Math.max(v, 10 ** low)) - low) / (high - low)) * (W - LEFT - 8);
	const y = (p) => 6 + (1 - p / 100) * (H - BOTTOM - 6);
	const show = unit === 'duration' ? duration : unit === 'bytes' ? bytes : count;
	const step = Math.max(1, Math.ceil((high - low) / 8));
	const tens = [];
	for (let k = low; k <= high; k += step) {
		tens.push(k);
	}
	return html`<figure class="curves"><svg viewBox=${`0 0 ${W} ${H}`} role="img" aria-label=${`${label}: ${sides.map((s) => `${s.name}, half below ${show(s.points.find(([p]) => p === 50)?.[1])}`).join('; ')}`}>
		${tens.map((k) => html`<line class="grid" x1=${x(10 ** k)} x2=${x(10 ** k)} y1="6" y2=${H - BOTTOM} /><text x=${x(10 ** k)} y=${H - 8} text-anchor=${k === low ? 'start' : k + step > high ? 'end' : 'middle'}>${show(10 ** k)}</text>`)}
		${[0, 50, 90, 99].map((p) => html`<line class="grid" x1=${LEFT} x2=${W - 8} y1=${y(p)} y2=${y(p)} />${p !== 99 && html`<text x=${LEFT - 6} y=${y(p) + 4} text-anchor="end">${p} %</text>`}`)}
		${sides.map((s, i) => html`<path class=${`curve side${i}`} d=${s.points.map(([p, v], n) => `${n ? 'L' : 'M'}${x(v).toFixed(1)} ${y(p).toFixed(1)}`).join('')} />`)}
	</svg><figcaption>${label}: ${sides.map((s, i) => html`<span class=${`key side${i}`}>${s.name}</span> `)}</figcaption></figure>`;
}
