// SPDX-License-Identifier: MIT
// How many events there were when, coloured by who wrote them; loss hatched in red. Drag selects times.
import { html, useEffect, useRef, useSize, useState } from '../ui.js';
import { range, selection, useAsk, zoom, and, info } from '../state.js';
import { count, time, visible, duration } from '../text.js';
import { colour } from './chart.js';
import { showMenu, filterEntries } from '../shell/menu.js';
import { marks } from '../shell/marks.js';

export function hatch(c, x, y, w, h) {
	const bad = getComputedStyle(document.documentElement).getPropertyValue('--bad').trim();
	c.save();
	c.beginPath();
	c.rect(x, y, Math.max(2, w), h);
	c.clip();
	c.globalAlpha = 0.18;
	c.fillStyle = bad;
	c.fillRect(x, y, Math.max(2, w), h);
	c.globalAlpha = 0.9;
	c.strokeStyle = bad;
	c.lineWidth = 1;
	c.beginPath();
	for (let d = -h; d < w + h; d += 7) {
		c.moveTo(x + d, y + h);
		c.lineTo(x + d + h, y);
	}
	c.stroke();
	c.restore();
}

export function Density({ by = 'provider', height = 120 }) {
	const ref = useRef(null), canvas = useRef(null);
	const size = useSize(ref);
	const [drag, setDrag] = useState(null);
	const r = range.value;
	const px = Math.max(100, Math.min(2000, size.width));
	const state = useAsk(size.width && (r.t1 > r.t0 || info.value?.progress.whole) ? 'hist' : null, { ...selection.value, t0: r.t0, t1: r.t1, px, by, top: 8 }, { first: true });
	const d = state.data;
	const xOf = (t) => ((t - r.t0) / (r.t1 - r.t0 || 1)) * size.width;
	const tOf = (x) => r.t0 + (x / (size.width || 1)) * (r.t1 - r.t0);
	useEffect(() => {
		const e = canvas.current;
		if (!e || !size.width) {
			return;
		}
		const dpr = devicePixelRatio || 1;
		e.width = size.width * dpr;
		e.height = height * dpr;
		const c = e.getContext('2d');
		const css = getComputedStyle(document.documentElement);
		c.scale(dpr, dpr);
		c.fillStyle = css.getPropertyValue('--card');
		c.fillRect(0, 0, size.width, height);
		const ruler = 18;
		if (d) {
			const n = d.px, series = d.series.length, counts = d.counts;
			const sums = new Float64Array(n);
			for (let s = 0; s < series; s++) {
				for (let i = 0; i < n; i++) {
					sums[i] += counts[s * n + i];
				}
			}
			const most = sums.reduce((a, b) => Math.max(a, b), 1);
			const scale = (height - ruler - 4) / most;
			const w = xOf(d.t1) - xOf(d.t0), x0 = xOf(d.t0);
			const base = new Float64Array(n).fill(height - ruler);
			for (let s = 0; s < series; s++) {
				c.fillStyle = colour(s);
				for (let i = 0; i < n; i++) {
					const v = counts[s * n + i];
					if (v) {
						const h = Math.max(0.6, v * scale);
						base[i] -= h;
						c.fillRect(x0 + (i * w) / n, base[i], Math.max(1, w / n + 0.2), h);
					}
				}
			}
			for (const l of d.lost) {
				hatch(c, xOf(l.t0), 0, xOf(l.t1) - xOf(l.t0), height - ruler);
			}
		}
		/* Lost, and the file does not say when: anywhere. */
		if (d && d.lost.length === 0 && info.value?.lost.events > 0 && info.value.lost.t0 === undefined) {
			hatch(c, 0, 0, size.width, 8);
		}
		const p = info.value?.progress;
		if (p && !p.whole && p.covered_until !== undefined) {
			c.fillStyle = css.getPropertyValue('--soft');
			const x = xOf(p.covered_until);
			c.fillRect(x, 0, size.width - x, height - ruler);
		}
		c.fillStyle = css.getPropertyValue('--dim');
		c.strokeStyle = css.getPropertyValue('--line');
		c.font = '11px system-ui, sans-serif';
		const step = niceStep((r.t1 - r.t0) / Math.max(1, size.width / 110));
		for (let t = Math.ceil(r.t0 / step) * step; t <= r.t1; t += step) {
			const x = Math.round(xOf(t)) + 0.5;
			c.beginPath();
			c.moveTo(x, height - ruler);
			c.lineTo(x, height - ruler + 4);
			c.stroke();
			if (x < size.width - 40) {
				c.fillText(time(t, step), x + 3, height - 5);
			}
		}
		for (const m of marks.value) {
			const x = xOf(m.t);
			c.fillStyle = css.getPropertyValue('--s1');
			c.fillRect(x, 0, 1.5, height - ruler);
			c.beginPath();
			c.moveTo(x, 0);
			c.lineTo(x + 8, 4);
			c.lineTo(x, 8);
			c.fill();
		}
		if (drag) {
			c.fillStyle = css.getPropertyValue('--accent');
			c.globalAlpha = 0.25;
			c.fillRect(Math.min(drag.a, drag.b), 0, Math.abs(drag.b - drag.a), height - ruler);
			c.globalAlpha = 1;
		}
	}, [d, size.width, drag, r.t0, r.t1, info.value?.progress?.covered_until, marks.value, document.documentElement.dataset.theme]);
	const at = (e) => e.clientX - ref.current.getBoundingClientRect().left;
	return html`<div>
		<div class="density" ref=${(e) => {
			ref.current = e;
			if (e) {
				e.style.height = `${height}px`;
			}
		}}><canvas ref=${canvas} role="img" tabindex="0" aria-label=${`Events over time, from ${time(r.t0)} to ${time(r.t1)}: ${count(d?.answer?.matched)} events. Drag to select times.`}
			onPointerDown=${(e) => {
				if (e.button === 0) {
					e.currentTarget.setPointerCapture(e.pointerId);
					setDrag({ a: at(e), b: at(e) });
				}
			}}
			onPointerMove=${(e) => drag && setDrag({ ...drag, b: at(e) })}
			onPointerUp=${() => {
				if (drag && Math.abs(drag.b - drag.a) > 3) {
					zoom(tOf(Math.min(drag.a, drag.b)), tOf(Math.max(drag.a, drag.b)));
				}
				setDrag(null);
			}}
			onDblClick=${() => zoom(-Infinity, Infinity)}></canvas></div>
		<div class="legend">${d?.series.map((s, i) => html`<button onClick=${() => s.filter && and(s.filter)} onContextMenu=${(e) => showMenu(e, filterEntries(s.filter, s.name))} title=${s.filter ? `Only ${visible(s.name)}` : undefined}><i ref=${(e) => e && (e.style.background = colour(i))}></i>${visible(s.name)} <span class="dim">${count(s.total)}</span></button>`)}
		${drag && html`<span class="dim">${duration(Math.abs(tOf(drag.b) - tOf(drag.a)))}</span>`}</div>
	</div>`;
}

export function niceStep(x) {
	const p = 10 ** Math.floor(Math.log10(Math.max(1, x)));
	return p * ([1, 2, 5, 10].find((m) => m * p >= x) ?? 10);
}
