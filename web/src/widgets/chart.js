// SPDX-License-Identifier: MIT
// Numbers over time, by uPlot: drag to select times. The charts of a page share their cursor.
import uPlot from 'uplot';
import { html, useEffect, useRef, useSize } from '../ui.js';
import { range, selection, theme, useAsk, zoom } from '../state.js';
import { bytes, count, duration } from '../text.js';

export function colour(i) {
	return getComputedStyle(document.documentElement).getPropertyValue(`--s${i % 9}`).trim() || '#2563eb';
}
const titles = { cpu: 'processors busy', ready: 'threads ready', disk_bytes: 'disk bytes', disk_queue: 'disk queue', file_bytes: 'file bytes', net_bytes: 'network bytes', faults: 'page faults', syscalls: 'system calls' };

function Chart({ name, values, head, unit, height, at, ruler }) {
	const ref = useRef(null);
	const size = useSize(ref);
	const plot = useRef(null);
	useEffect(() => {
		if (!ref.current || size.width < 50) {
			return undefined;
		}
		const n = values.length, step = (head.t1 - head.t0 + 1) / n;
		const perSecond = unit === 'bytes';
		const x = Float64Array.from({ length: n }, (_, i) => (head.t0 + (i + 0.5) * step) / 1e9);
		const y = perSecond ? Array.from(values, (v) => (v * 1e9) / step) : Array.from(values);
		const text = getComputedStyle(document.documentElement).getPropertyValue('--dim').trim();
		const grid = { stroke: getComputedStyle(document.documentElement).getPropertyValue('--line').trim(), width: 1 };
		const show = (v) => (v === null || v === undefined ? '' : perSecond ? `${bytes(v)}/s` : v >= 10 ? count(v) : v.toFixed(2));
		plot.current = new uPlot(
			{
				width: size.width, height: height + (ruler ? 26 : 0),
				cursor: { sync: { key: 'page' }, drag: { x: true, y: false, setScale: false }, y: false },
				legend: { show: false },
				scales: { x: { time: false } },
				axes: [
					{ stroke: text, grid, ticks: { ...grid, show: ruler }, values: (_, v) => v.map((s) => (ruler ? `${s} s` : '')), size: ruler ? 26 : 4 },
					{ stroke: text, grid, ticks: grid, size: 76, values: (_, v) => v.map(show) },
				],
				series: [{}, { label: titles[name] ?? name, stroke: colour(at), fill: `${colour(at)}55`, width: 1, points: { show: false } }],
				hooks: {
					setSelect: [
						(u) => {
							if (u.select.width > 3) {
								zoom(u.posToVal(u.select.left, 'x') * 1e9, u.posToVal(u.select.left + u.select.width, 'x') * 1e9);
							}
							u.setSelect({ width: 0, height: 0 }, false);
						},
					],
				},
			},
			[x, y],
			ref.current,
		);
		return () => plot.current?.destroy();
	}, [values, size.width, height, ruler, theme.value]);
	const total = values.reduce((a, b) => a + b, 0);
	return html`<figure class="chart" aria-label=${`${titles[name] ?? name} over time`}>
		<figcaption class="note">${titles[name] ?? name}${unit === 'bytes' ? `, ${bytes(total)} in all` : unit === 'processors' || unit === 'requests' || unit === 'threads' ? `, ${(total / Math.max(1, values.length)).toFixed(2)} on average` : `, ${count(total)} in all`}</figcaption>
		<div ref=${ref}></div></figure>`;
}

export function CounterChart({ list, height = 56 }) {
	const ref = useRef(null);
	const size = useSize(ref);
	const px = Math.max(200, Math.min(1600, Math.round((size.width || 1000) / 2)));
	const r = range.value;
	const state = useAsk(size.width ? 'counters' : null, { tr: selection.value.tr, t0: r.t0, t1: r.t1, px, list: list.join(',') });
	const d = state.data;
	const shown = d ? list.filter((name) => d[name]?.some((v) => v > 0)) : [];
	return html`<div class="charts" ref=${ref}>${shown.map((name, i) => html`<${Chart} key=${name} name=${name} values=${d[name]} head=${d} unit=${d.units[name]} height=${height} at=${list.indexOf(name)} ruler=${i === shown.length - 1} />`)}</div>`;
}
