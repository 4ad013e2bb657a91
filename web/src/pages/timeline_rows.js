/* SPDX-License-Identifier: MIT
 *
 * Which lanes the timeline has, in which order, and where their data come from. Rows are those of widgets/lanes.js. Keys:
 *
 *	density, marks, c:CPU (of openetw_query_lanes), t:THREAD, n:COUNTER, s:THREAD (spans of events), d:THREAD (requests
 *	to disks), o:THREAD (operations on files), g:GROUP */

import { count, visible } from '../text.js';

export const COUNTERS = [
	{ id: 'cpu', label: 'CPU busy', has: 'switches', kind: 'counter' },
	{ id: 'ready', label: 'Ready threads', has: 'switches', kind: 'counter' },
	{ id: 'disk_bytes', label: 'Disk bytes', has: 'disk', kind: 'counter' },
	{ id: 'disk_queue', label: 'Disk queue', has: 'disk', kind: 'io' },
	{ id: 'file_bytes', label: 'File bytes', has: 'file', kind: 'counter' },
	{ id: 'net_bytes', label: 'Network bytes', has: 'net', kind: 'counter' },
	{ id: 'faults', label: 'Page faults', has: 'faults', kind: 'counter' },
	{ id: 'syscalls', label: 'System calls', has: 'syscalls', kind: 'counter' },
];

const SPAN_GROUPS = [
	{ id: 'activities', kind: 'events', letter: 's', label: 'Activities' },
	{ id: 'disks', kind: 'disks', letter: 'd', label: 'Disk requests' },
	{ id: 'files', kind: 'files', letter: 'o', label: 'File operations' },
];
export { SPAN_GROUPS };

export function threadLabel(t) {
	return t.name && t.name !== t.process_name ? `${visible(t.name)} ${t.tid}` : String(t.tid);
}

function threadRow(t, letter, kind, under) {
	const own = t.name && t.name !== t.process_name ? visible(t.name) : '';
	const process = visible(t.process_name || 'process');
	return {
		key: `${letter}:${t.thread}`, kind, thread: t.thread, of: t, colour: t.process_name || '?',
		label: under ? own || 'thread' : own ? `${process} · ${own}` : process, sub: String(t.tid), levels: 1,
	};
}

/* Processes with their threads: those with most events first. */
function processes(threads) {
	const by = new Map();
	for (const t of threads) {
		const p = by.get(t.process);
		if (p) {
			p.threads.push(t);
			p.events += t.events;
		} else {
			by.set(t.process, { process: t.process, pid: t.pid, name: t.process_name || 'process', threads: [t], events: t.events });
		}
	}
	return [...by.values()].sort((a, b) => b.events - a.events);
}

/* `view` is what the address keeps: {pins: [key], hidden: Set, open: Map(group → bool), order: [key], process: text};
 * `known`: {cpus: [{id, cpu, file}], threads, has, spans: Map(group → Set of threads), marks}. */
export function makeRows(known, view) {
	const rows = [];
	const all = new Map();
	const wanted = (row) => !view.hidden.has(row.key);
	const add = (row, list = rows) => {
		all.set(row.key, row);
		if (wanted(row) && !view.pins.includes(row.key)) {
			list.push(row);
		}
	};
	const wantedProcess = (t) => !view.process || `${t.process_name} ${t.pid}`.toLowerCase().includes(view.process.toLowerCase());
	const isOpen = (id, otherwise) => (view.open.has(id) ? view.open.get(id) : otherwise);
	const group = (id, label, sub, otherwise) => {
		const row = { key: `g:${id}`, kind: 'group', id, label, sub, open: isOpen(id, otherwise), menu: false };
		if (!view.hidden.has(row.key)) {
			rows.push(row);
		}
		return row;
	};

	const density = { key: 'density', kind: 'density', label: 'Events', sub: 'by provider', pinned: true, menu: false };
	rows.push(density);
	all.set(density.key, density);
	if (known.marks.length) {
		const marks = { key: 'marks', kind: 'marks', label: 'Marks', pinned: true, menu: false };
		rows.push(marks);
		all.set(marks.key, marks);
	}
	if (known.track) {
		const row = { key: 'track', kind: 'marks', label: 'SQL', sub: `${count(known.track.points.length)} rows`, pinned: true, menu: false };
		rows.push(row);
		all.set(row.key, row);
	}

	if (known.cpus.length && known.has.switches && !view.process) {
		const g = group('cpus', 'CPUs', `${known.cpus.length}`, true);
		for (const c of known.cpus) {
			const row = { key: `c:${c.id}`, kind: 'cpu', cpu: c.id, label: `CPU ${c.cpu}`, sub: c.file ? `file ${c.file + 1}` : '' };
			add(row, g.open ? rows : []);
		}
	}
	const counters = COUNTERS.filter((c) => known.has[c.has]);
	if (counters.length && !view.process) {
		const g = group('counters', 'Counters', String(counters.length), !known.has.switches);
		for (const c of counters) {
			add({ key: `n:${c.id}`, kind: c.kind, counter: c.id, label: c.label }, g.open ? rows : []);
		}
	}
	for (const s of SPAN_GROUPS) {
		const of = known.spans.get(s.id);
		if (!of || !of.size) {
			continue;
		}
		const threads = known.threads.filter((t) => of.has(t.thread) && wantedProcess(t));
		if (!threads.length) {
			continue;
		}
		const g = group(s.id, s.label, threads.length === 1 ? '1 thread' : `${count(threads.length)} threads`, s.id === 'activities');
		for (const t of threads) {
			const row = threadRow(t, s.letter, 'spans', false);
			row.levels = known.levels.get(row.key) || 1;
			add(row, g.open ? rows : []);
		}
	}
	let shown = 0;
	for (const p of known.has.switches ? processes(known.threads.filter(wantedProcess)) : []) {
		if (p.pid === 0) {
			continue; /* the idle threads: the lanes of processors show them */
		}
		if (p.threads.length === 1) {
			add(threadRow(p.threads[0], 't', 'thread', false));
			continue;
		}
		const g = group(`p${p.process}`, `${visible(p.name)}`, `${p.pid} · ${p.threads.length === 1 ? '1 thread' : `${count(p.threads.length)} threads`}`,
			shown < 24 && p.threads.length <= 16);
		shown += g.open ? p.threads.length : 0;
		g.process = p;
		for (const t of p.threads) {
			add(threadRow(t, 't', 'thread', true), g.open ? rows : []);
		}
	}
	/* Moved lanes stand behind the lane that they were moved behind. */
	for (const [key, by] of view.moves) {
		const at = rows.findIndex((r) => r.key === key);
		const to = at + by;
		if (at > 0 && to > 0 && to < rows.length && rows[to].kind !== 'group' && !rows[to].pinned) {
			rows.splice(to, 0, rows.splice(at, 1)[0]);
		}
	}
	/* Pinned lanes stand on top, with the whole name. */
	const pinned = [];
	for (const key of view.pins) {
		const row = all.get(key);
		if (row) {
			const whole = row.kind === 'thread' ? threadRow(row.of, 't', 'thread', false) : row;
			whole.pinned = true;
			pinned.push(whole);
		}
	}
	const heads = rows.findIndex((r) => r.key !== 'density' && r.key !== 'marks' && r.key !== 'track');
	rows.splice(heads < 0 ? rows.length : heads, 0, ...pinned);
	return rows;
}

/* The group that a lane is in, so that it can be opened. */
export function groupOf(key, threads) {
	const [letter, id] = key.split(':');
	if (letter === 'c') {
		return 'cpus';
	}
	if (letter === 'n') {
		return 'counters';
	}
	if (letter === 't') {
		const t = threads.find((x) => x.thread === Number(id));
		return t ? `p${t.process}` : null;
	}
	const s = SPAN_GROUPS.find((g) => g.letter === letter);
	return s ? s.id : null;
}
