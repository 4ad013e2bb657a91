/* SPDX-License-Identifier: MIT
 *
 * Brings the tiles of lanes: one question to the server for each kind of lane on the screen, all at once. */

import { askArrays } from './use.js';
import { SPAN_GROUPS } from './timeline_rows.js';

/* Where the runs of each lane begin and end in the arrays; they are told lane by lane. */
function bounds(lane, lanes) {
	const begin = new Int32Array(lanes).fill(0);
	const end = new Int32Array(lanes).fill(0);
	for (let i = 0; i < lane.length;) {
		const which = lane[i];
		let k = i + 1;
		while (k < lane.length && lane[k] === which) {
			k++;
		}
		if (which < lanes) {
			begin[which] = i;
			end[which] = k;
		}
		i = k;
	}
	return [begin, end];
}

/* Spans are told in the order in which they began; the widget wants those of a lane beside each other, by pixel. */
function sorted(a) {
	const order = Uint32Array.from(a.lane, (_, i) => i).sort((x, y) => a.lane[x] - a.lane[y] || a.first[x] - a.first[y]);
	const out = {};
	for (const { name } of a.arrays) {
		const values = a[name];
		const to = new values.constructor(values.length);
		for (let i = 0; i < order.length; i++) {
			to[i] = values[order[i]];
		}
		out[name] = to;
	}
	return out;
}

export function laneTiles(rows, answer) {
	const [begin, end] = bounds(answer.lane, rows.length);
	return new Map(rows.map((row, n) => [row.key, { ...answer, t1: answer.t1 + 1, begin: begin[n], end: end[n] }]));
}

export function spanTiles(rows, answer) {
	const arrays = sorted(answer);
	const [begin, end] = bounds(arrays.lane, rows.length);
	return new Map(rows.map((row, n) => {
		let levels = 1;
		for (let i = begin[n]; i < end[n]; i++) {
			levels = Math.max(levels, arrays.level[i] + 1);
		}
		return [row.key, { ...answer, ...arrays, t1: answer.t1 + 1, begin: begin[n], end: end[n], levels: Math.min(levels, 8) }];
	}));
}

/* loader(learn) → load(rows, asked, take). `learn(head)` gets to know names of threads, words of reasons, and whether an answer is partial. */
export function makeLoader(selection, learn) {
	let stop = null;
	return async function load(rows, asked, take) {
		if (stop) {
			stop.abort();
		}
		stop = new AbortController();
		const { signal } = stop;
		const { tr, f } = selection();
		const range = { tr, t0: asked.t0, t1: asked.t1 - 1, px: asked.px };
		const questions = [];
		const of = (kind) => rows.filter((r) => r.kind === kind);

		const density = of('density');
		if (density.length) {
			questions.push(askArrays('hist', { ...range, f, by: 'provider', top: 8 }, signal).then((a) => {
				const px = a.px;
				const style = getComputedStyle(document.documentElement);
				const colours = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((k) => style.getPropertyValue(`--s${k}`).trim());
				const tile = {
					t0: a.t0, t1: a.t1 + 1, px,
					series: a.series.map((s, n) => ({ name: s.name, colour: colours[Math.min(n, 8)], counts: a.counts.subarray(n * px, (n + 1) * px) })),
				};
				learn({ lost: a.lost });
				take(new Map([['density', tile]]));
			}));
		}
		const cpus = of('cpu');
		if (cpus.length) {
			questions.push(askArrays('lanes', { ...range, list: 'cpus' }, signal).then((a) => {
				learn(a);
				/* All of them are told; the screen may show some. */
				const ids = a.lanes.map((l) => l.id);
				const tiles = laneTiles(ids.map((id) => ({ key: `c:${id}` })), a);
				take(tiles);
			}));
		}
		const threads = of('thread');
		for (let n = 0; n < threads.length; n += 512) {
			const part = threads.slice(n, n + 512);
			questions.push(askArrays('lanes', { ...range, list: `thread:${part.map((r) => r.thread).join(',')}` }, signal).then((a) => {
				learn(a);
				take(laneTiles(part, a));
			}));
		}
		for (const group of SPAN_GROUPS) {
			const part = rows.filter((r) => r.kind === 'spans' && r.key.startsWith(`${group.letter}:`));
			if (part.length) {
				questions.push(askArrays('spans', { ...range, kind: group.kind, threads: part.map((r) => r.thread).join(',') }, signal).then((a) => {
					learn({ answer: a.answer });
					take(spanTiles(part, a));
				}));
			}
		}
		const counters = rows.filter((r) => r.counter);
		if (counters.length) {
			questions.push(askArrays('counters', { ...range, list: counters.map((r) => r.counter).join(',') }, signal).then((a) => {
				take(new Map(counters.filter((r) => a[r.counter]).map((r) => {
					const values = a[r.counter];
					/* What is counted at once is a mean over the pixel already; what is added up depends on the zoom. */
					return [r.key, { t0: a.t0, t1: a.t1 + 1, px: a.px, values, unit: a.units[r.counter] }];
				})));
			}));
		}
		const results = await Promise.allSettled(questions);
		const bad = results.find((r) => r.status === 'rejected' && r.reason.name !== 'AbortError');
		if (bad) {
			throw bad.reason;
		}
	};
}
