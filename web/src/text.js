// SPDX-License-Identifier: MIT
// Numbers and texts as people read them.

// Control characters and those that turn the direction of writing are shown as escapes: a name cannot pretend to be another.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
export function visible(s) {
	return String(s ?? '').replace(hidden, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function count(n) {
	return n === null || n === undefined ? '' : Math.round(n).toLocaleString('en-US');
}

// What a loss says: its number is of events, or of parts of the file.
export function lossText(l) {
	const parts = /^(buffers|the ring|parts)/.test(l.reason ?? '');
	const n = parts ? (l.count >= 0 ? plural(l.count, 'buffer') : 'buffers') : l.count >= 0 ? plural(l.count, 'event') : 'events';
	return `${n} lost here${l.cpu >= 0 ? ` on processor ${l.cpu}` : ''}${l.reason ? `: ${visible(l.reason)}` : ''}`;
}

export function plural(n, one, many = one + 's') {
	return `${count(n)} ${n === 1 ? one : many}`;
}

// A duration in ns.
export function duration(ns) {
	if (ns === null || ns === undefined || ns >= 8e18) {
		return '';
	}
	const a = Math.abs(ns);
	const three = (x) => (Math.abs(x) >= 100 ? x.toFixed(0) : Math.abs(x) >= 10 ? x.toFixed(1) : x.toFixed(2));
	if (a < 1e3) {
		return `${Math.round(ns)} ns`;
	}
	if (a < 1e6) {
		return `${three(ns / 1e3)} µs`;
	}
	if (a < 1e9) {
		return `${three(ns / 1e6)} ms`;
	}
	if (a < 120e9) {
		return `${three(ns / 1e9)} s`;
	}
	return `${Math.floor(ns / 60e9)} min ${Math.round((ns / 1e9) % 60)} s`;
}

// A time in ns from the start of the trace; `step`: what neighbours differ by.
export function time(ns, step = 1) {
	if (ns === null || ns === undefined) {
		return '';
	}
	const digits = step >= 1e9 ? 1 : Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(1, step)))));
	return `${(ns / 1e9).toFixed(digits)} s`;
}

export function bytes(n) {
	if (n === null || n === undefined) {
		return '';
	}
	const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
	let i = 0;
	let x = n;
	while (Math.abs(x) >= 1024 && i < units.length - 1) {
		x /= 1024;
		i++;
	}
	return `${i === 0 ? Math.round(x) : x.toFixed(x >= 100 ? 0 : 1)} ${units[i]}`;
}

// A value of a table's column.
export function value(v, unit) {
	if (v === null || v === undefined) {
		return '';
	}
	if (typeof v === 'boolean') {
		return v ? 'yes' : 'no';
	}
	if (typeof v !== 'number') {
		return visible(v);
	}
	switch (unit) {
	case 'time':
		return time(v, 1e3);
	case 'duration':
		return duration(v);
	case 'bytes':
		return bytes(v);
	default:
		return Number.isInteger(v) ? count(v) : v.toLocaleString('en-US', { maximumSignificantDigits: 6 });
	}
}

// Numbers that name something are not counts: no thousands separators.
const names = /^(pid|tid|process|thread|stack|cpu|waker_pid|waker_tid|waker_thread|old_tid|parent_pid|id|version|opcode|task|level|type|file|disk|priority|exit_code|status|result|parent|session_id|generation|number|vector)$/;
export function cell(v, column) {
	return typeof v === 'number' && column.unit === 'none' && names.test(column.name) ? String(v) : value(v, column.unit);
}

export const levels = { 0: '', 1: 'critical', 2: 'error', 3: 'warning', 4: 'info', 5: 'verbose' };
export function level(n) {
	return levels[n] ?? String(n);
}

// What a shell takes as one word.
export function shell(s) {
	return /^[A-Za-z0-9_./:=+,@%^-]+$/.test(s) ? s : `'${String(s).replace(/'/g, `'\\''`)}'`;
}
