// SPDX-License-Identifier: MIT
// Operations, one a line: what is left out and what stands out by right-click; details with the call stack of the event.
import { html, useEffect, useMemo, useRef, useState } from '../ui.js';
import { go, keep, kept, live, follow, selection, toast, info } from '../state.js';
import { get, post } from '../api.js';
import { bytes, count, duration, plural, shell, time, visible } from '../text.js';
import { Grid, Rows } from '../widgets/grid.js';
import { Command } from '../shell/command.js';
import { copy, showMenu } from '../shell/menu.js';
import { Details } from './events.js';

const widths = { time: 104, process: 130, pid: 62, tid: 62, op: 130, path: 350, result: 132, bytes: 84, took: 84, detail: 260 };
widths.path = Math.max(widths.path, Math.min(1200, innerWidth - 1170)); // what is left of a wide screen
const titles = { time: 'time', process: 'process', pid: 'pid', tid: 'tid', op: 'operation', path: 'path', result: 'result', bytes: 'bytes', took: 'took', detail: 'detail' };
const columns = Object.keys(widths).map((id) => ({ id, field: id, name: titles[id], width: widths[id], resizable: true, cssClass: ['pid', 'tid', 'bytes', 'took'].includes(id) ? 'cell-num' : '', formatter: (r, c, v, d, x) => (x ? (x.gone ? (id === 'path' ? 'has left the memory' : '') : x[id]) : '…') }));

// A text in quotes: what cannot stand there is matched by any character.
export function quoted(s) {
	return /["\\]/.test(s) ? { op: '~', text: `"${s.replace(/["\\*]/g, '?')}"` } : { op: '==', text: `"${s}"` };
}
export function test(name, v) {
	if (typeof v === 'number') {
		return `${name} == ${v}`;
	}
	const q = quoted(String(v));
	return `${name} ${q.op} ${q.text}`;
}
export function join(f, text) {
	return f ? `${/\bor\b|\|\|/.test(f) ? `(${f})` : f} and ${text}` : text;
}
const filterOf = () => kept('of', '');
const setFilter = (f) => keep('of', f, false);

/* ---- what stands out ---- */

// Rules are kept in the address: COLUMN=VALUE lines, in the order of their colours.
const COLOURS = 6;
function rules() {
	return kept('hl', '').split('\n').filter(Boolean).map((r) => [r.slice(0, r.indexOf('=')), r.slice(r.indexOf('=') + 1)]);
}
function setRules(list) {
	keep('hl', list.slice(0, COLOURS).map(([c, v]) => `${c}=${v}`).join('\n'));
}
function highlight(list, row) {
	const i = list.findIndex(([c, v]) => String(row.raw?.[c] ?? '') === v);
	return i < 0 ? '' : `rule${i}`;
}

/* ---- one operation ---- */

// The event of an operation: of the same thread, at the same time.
async function eventOf(row, signal) {
	const f = row.tid === '' ? `pid == ${row.pid}` : `tid == ${row.tid}`, id = selection.value.tr;
	const { position } = await get('position', { tr: id, f, t: row.t }, signal);
	const a = await get('rows', { tr: id, f, at: position, n: 16 }, signal);
	const near = a.rows.filter((r) => r[1] >= row.t && r[1] < row.t + 100);
	/* Its own event, before what tells of its stack or end. */
	return near.find((r) => !/^(StackWalk|FileIo\/OperationEnd)/.test(a.types[r[6]]?.[1] ?? '')) ?? near[0] ?? null;
}

function One({ row, onClose }) {
	const [event, setEvent] = useState(null);
	useEffect(() => {
		const control = new AbortController();
		setEvent(null);
		eventOf(row, control.signal).then((r) => setEvent(r ? r[0] : 'gone'), (e) => e.name !== 'AbortError' && setEvent('gone'));
		return () => control.abort();
	}, [row.n]);
	if (typeof event === 'number') {
		return html`<${Details} row=${event} onClose=${onClose} />`;
	}
	return html`<aside class="details" aria-label="Operation"><div class="head"><h2>${visible(row.op)}</h2><span class="grow"></span><button class="quiet" aria-label="Close" onClick=${onClose}>×</button></div>
		<table>${Object.keys(titles).map((k) => row[k] !== '' && html`<tr><th scope="row">${titles[k]}</th><td>${row[k]}</td></tr>`)}</table>
		<p class="note">${event === 'gone' ? 'Its event, with its call stack, has left the ring or was none of its own.' : 'Looking for its event …'}</p></aside>`;
}

/* ---- the list ---- */

export function Operations({ kinds, children }) {
	const s = selection.value, f = filterOf(), marks = rules();
	const [text, setText] = useState(f);
	const [mistake, setMistake] = useState('');
	const [total, setTotal] = useState(0);
	const [chosen, setChosen] = useState(null);
	const grid = useRef(null);
	useEffect(() => setText(f), [f]);
	const rows = useMemo(() => {
		const load = async (at, n, signal) => {
			const a = await get('ops', { tr: s.tr, kinds, f, at, n }, signal);
			return {
				total: a.total,
				rows: a.rows.map((r) => {
					if (!r) {
						return { gone: true };
					}
					const [number, t, kind, op, pid, tid, process, path, result, size, took, detail, failed] = r;
					return { n: number, t, kind, op: visible(op), pid: pid < 0 ? '' : pid, tid: tid < 0 ? '' : tid, process: visible(process), path: visible(path), result: visible(result), bytes: size ? bytes(size) : '', took: took ? duration(took) : '', detail: visible(detail), time: time(t, 1e3), failed, raw: { op, process, path, result, pid, tid } };
				}),
			};
		};
		const x = new Rows(load, (at, n, grew) => {
			setMistake('');
			setTotal(x.total);
			const g = grid.current;
			if (!g) {
				return;
			}
			if (grew) {
				g.updateRowCount();
			}
			g.invalidateRows(Array.from({ length: n }, (v, i) => at + i));
			g.render();
			if (follow.value && grew) {
				g.scrollRowIntoView(x.getLength() - 1);
			}
		});
		x.failed = (e) => setMistake(e.message);
		x.total = 1;
		return x;
	}, [s.tr, kinds, f]);
	/* At most nine times a second, and not while nobody looks: a hidden page hears nothing. */
	const state = live.value, seen = useState({ at: 0 })[0];
	useEffect(() => {
		const now = performance.now();
		if (follow.value && now - seen.at > 110) {
			seen.at = now;
			rows.refresh(false);
		}
	}, [state, rows]);
	const menu = (e, line, column, row) => {
		if (!row || row.gone) {
			return;
		}
		const name = column.id === 'took' ? null : column.id, raw = row.raw[name], v = raw === undefined ? row[name] : raw;
		const usable = name && name in row.raw && v !== '' && v !== -1;
		const folder = name === 'path' && raw.includes('/') ? raw.slice(0, raw.lastIndexOf('/') + 1) : '';
		showMenu(e, [
			usable && { text: `Only ${String(v).slice(0, 60)}`, run: () => setFilter(join(f, test(name, v))) },
			usable && { text: `Without ${String(v).slice(0, 60)}`, run: () => setFilter(join(f, `not ${test(name, v)}`)) },
			folder && { text: `Only below ${folder.slice(-60)}`, run: () => setFilter(join(f, `path ~ "${folder.replace(/["\\]/g, '?')}*"`)) },
			folder && { text: `Without what is below ${folder.slice(-60)}`, run: () => setFilter(join(f, `not path ~ "${folder.replace(/["\\]/g, '?')}*"`)) },
			usable && { text: 'Highlight this', run: () => setRules([...rules().filter(([c, x]) => c !== name || x !== String(v)), [name, String(v)]]) },
			marks.length > 0 && { text: 'No highlights', run: () => setRules([]) },
			f && { text: 'Show everything again', run: () => setFilter('') },
			v !== undefined && v !== '' && { text: 'Copy', run: () => copy(String(v)) },
		]);
	};
	const save = async (part) => {
		try {
			const a = await post('keep', { tr: s.tr, ...(part ?? {}) });
			toast(`${plural(a.events, 'event')} in ${a.path}`, 'info');
		} catch (e) {
			toast(e.message);
		}
	};
	const show = kinds === 'image' ? 'image' : kinds === 'network' ? 'net' : kinds === 'memory' ? 'fault' : kinds || 'process,image,file,net';
	return html`<div class=${`liveops ${chosen ? 'withdetails' : ''}`}>
		<div class="list">
			<div class="toolbar">
				<b>${plural(total, 'operation')}</b>
				<input class=${`mono grow ${mistake ? 'wronginput' : ''}`} aria-label="Only operations for which this is true" placeholder='process == cat and result != OK' value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${(e) => {
					e.stopPropagation();
					if (e.key === 'Enter') {
						setFilter(text);
					}
				}} onBlur=${() => text !== f && setFilter(text)} />
				${f && html`<button class="quiet" aria-label="Everything again" onClick=${() => setFilter('')}>×</button>`}
				<label><input type="checkbox" checked=${follow.value} onChange=${(e) => (follow.value = e.target.checked)} /> follow</label>
				<button onClick=${() => save()} title="All events of the ring">Keep .etl</button>
				<button onClick=${() => save({ t1: info.value.last, t0: info.value.last - 10e9 })} title="The last ten seconds">Keep 10 s</button>
				<button onClick=${() => go({ page: 'events', f: '' })}>Events</button>
				${children}
				<${Command} line=${`openetw monitor --show ${show}${f ? ` --filter ${shell(f)}` : ''}`} />
			</div>
			${mistake && html`<p class="mistakeline" role="alert">${visible(mistake)}</p>`}
			${marks.length > 0 && html`<p class="rules">${marks.map(([c, v], i) => html`<span class=${`chip rule${i}`}>${visible(c)} ${visible(v)} <button aria-label=${`Do not highlight ${v}`} onClick=${() => setRules(marks.filter((m, n) => n !== i))}>×</button></span> `)}</p>`}
			${total === 0 && !mistake && html`<p class="empty">${f ? 'No operation fits so far.' : kinds === 'memory' ? 'No page fault so far: they are watched where “Page faults” was chosen.' : 'Nothing of this kind has happened so far.'}</p>`}
			<${Grid} columns=${columns} rows=${rows} label="Operations" onReady=${(g) => {
				grid.current = g;
				rows.want(0);
			}} onChoose=${(i, row) => row && !row.gone && setChosen(row)} onMenu=${menu}
				meta=${(row) => ({ cssClasses: row && !row.gone ? [chosen?.n === row.n ? 'chosen' : '', row.failed ? 'failed' : '', highlight(marks, row)].join(' ') : '' })} />
		</div>
		${chosen && html`<${One} row=${chosen} onClose=${() => setChosen(null)} />`}
	</div>`;
}
