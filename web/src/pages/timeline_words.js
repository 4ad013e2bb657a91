// SPDX-License-Identifier: MIT
// What the timeline knows of a trace, and what it says about a piece of a lane.
import { get } from '../api.js';
import { valueAt } from '../widgets/counter.js';
import { bytes, count, duration, time, visible } from '../text.js';
import { reasonWords } from './parts.js';
import { SPAN_GROUPS, threadLabel } from './timeline_rows.js';
import { bounds } from './use.js';

const doingWords = ['unknown', 'runs', 'is ready and does not run', 'waits', 'idle'];

export function emptyKnown() {
	return { cpus: [], threads: [], byThread: new Map(), names: new Map(), reasons: [], wakers: [], has: {}, spans: new Map(), levels: new Map() };
}

// Which threads have spans of a kind: asked once, one pixel wide, of the threads with most events.
async function spansOf(tr, threads, kind, signal) {
	const list = threads.slice(0, 512).map((t) => t.thread);
	if (!list.length) {
		return new Set();
	}
	const a = await get('spans', { tr, px: 1, kind, threads: list.join(',') }, signal);
	return new Set([...a.lane].map((lane) => list[lane]));
}

export async function learnTrace(tr, info, known, changed, signal) {
	known.has = info.has;
	const threads = get('threads', { tr, top: 20000 }, signal).then((a) => {
		known.threads = a.threads;
		known.byThread = new Map(a.threads.map((t) => [t.thread, t]));
	});
	const cpus = !info.has.switches ? null : get('lanes', { tr, px: 1, list: 'cpus' }, signal).then((a) => {
		known.cpus = a.lanes;
		known.reasons = a.reasons;
		known.wakers = a.wakers;
	});
	await Promise.all([threads, cpus]);
	changed();
	for (const { id, kind } of SPAN_GROUPS) {
		if (kind === 'events' || (kind === 'disks' && info.has.disk) || (kind === 'files' && info.has.file)) {
			known.spans.set(id, await spansOf(tr, known.threads, kind, signal));
			changed();
		}
	}
}

export function threadName(known, thread) {
	const t = known.byThread.get(thread), told = known.names.get(thread);
	return t ? `${visible(t.process_name || 'process')} · ${threadLabel(t)}` : told ? visible(told[0]) : thread ? `thread number ${thread}` : 'nobody knows who';
}

export function spanName(tile, i) {
	const type = tile.types[tile.type[i]];
	const name = type ? (Array.isArray(type) ? type[0] : type) : 'span';
	return name.replace(/\/Start$/, '');
}

export function counterText(unit, value) {
	return unit === 'bytes' ? bytes(value) : `${value >= 100 ? count(value) : Math.round(value * 100) / 100} ${value === 1 ? (unit ?? '').replace(/s$/, '') : unit ?? ''}`;
}

function runWords(known, { row, tile, i }) {
	const end = bounds().t1;
	const long = duration(Math.min(tile.to[i], end) - tile.from[i]);
	const lines = [];
	if (row.kind === 'spans') {
		lines.push(visible(spanName(tile, i)));
		lines.push(tile.to[i] > end ? 'does not end in the trace' : tile.to[i] === tile.from[i] ? 'no event says when it ended' : `takes ${long}`);
		if (tile.spans[i] > 1) {
			lines.push(`the longest of ${count(tile.spans[i])} here`);
		}
	} else if (row.kind === 'cpu') {
		lines.push(tile.doing[i] === 4 ? 'idle' : threadName(known, tile.thread[i]), `for ${long}`);
	} else {
		const doing = tile.doing[i];
		lines.push(doing === 3 ? `waits for ${reasonWords(known.reasons[tile.reason[i]])}` : `${doingWords[doing]}${doing === 1 ? ` on CPU ${tile.cpu[i] & 0xffff}` : ''}`, `for ${long}`);
		if (doing === 2) {
			lines.push(`woken by ${tile.thread[i] ? threadName(known, tile.thread[i]) : tile.waker[i] ? known.wakers[tile.waker[i]] : 'what no event tells'}`);
		}
	}
	if (row.kind !== 'spans' && tile.intervals[i] > 1) {
		lines.push(`the longest of ${count(tile.intervals[i])} here, which are ${Math.round(100 * tile.coverage[i])} % of this time`);
	}
	lines.push(`from ${time(tile.from[i], 1e3)}`);
	return lines;
}

// Lines for the tip and for screen readers; null: there is nothing to say.
export function itemWords(known, item) {
	const { row, tile, i, t } = item;
	if (i >= 0) {
		return runWords(known, item);
	}
	const value = tile && (tile.values || tile.series) ? valueAt(tile, t) : null;
	if (value === null) {
		return null;
	}
	const pixel = duration((tile.t1 - tile.t0) / tile.px);
	if (tile.series) {
		const lines = tile.series.map((s, n) => [value[n], `${visible(s.name)}: ${count(value[n])}`]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]);
		return lines.length ? [`events in ${pixel}`, ...lines.map(([, text]) => text)] : null;
	}
	return [row.label, `${counterText(tile.unit, value)}${/bytes|faults|calls/.test(tile.unit) ? ` in ${pixel}` : ''}`];
}
