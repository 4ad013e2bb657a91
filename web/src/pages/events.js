// SPDX-License-Identifier: MIT
// The events: facets, a list of any length, everything about one, and the same as a tree of groups.
import { html, useEffect, useMemo, useRef, useState } from '../ui.js';
import { selection, info, kept, keep, extra, go, and, useAsk, toast, tick, live, follow, filter } from '../state.js';
import { get, first } from '../api.js';
import { count, duration, level, lossText, time, value, visible, plural } from '../text.js';
import { Grid, Rows } from '../widgets/grid.js';
import { Asked } from '../widgets/asked.js';
import { Command } from '../shell/command.js';
import { showMenu, filterEntries } from '../shell/menu.js';
import { Source } from './live_source.js';

/* ---- facets ---- */

function Spread({ numeric, field }) {
	const ref = useRef(null);
	const [drag, setDrag] = useState(null);
	useEffect(() => {
		const e = ref.current, w = 200, h = 40;
		e.width = w * 2;
		e.height = h * 2;
		const c = e.getContext('2d');
		c.scale(2, 2);
		const most = Math.max(1, ...numeric.buckets.map((n) => Math.log1p(n)));
		c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent');
		numeric.buckets.forEach((n, i) => {
			const bar = (Math.log1p(n) / most) * (h - 2);
			c.fillRect((i * w) / numeric.buckets.length, h - bar, Math.max(1, w / numeric.buckets.length - 0.5), bar);
		});
		if (drag) {
			c.globalAlpha = 0.3;
			c.fillRect(Math.min(drag.a, drag.b) * w, 0, Math.abs(drag.b - drag.a) * w, h);
		}
	}, [numeric, drag]);
	const at = (e) => {
		const r = ref.current.getBoundingClientRect();
		return Math.max(0, Math.min(1, (e.clientX - r.left) / r.width));
	};
	const valueAt = (x) => numeric.min + x * (numeric.max - numeric.min);
	return html`<canvas class="spread" ref=${ref} role="img" aria-label=${`Values of ${field} from ${numeric.min} to ${numeric.max}. Drag to filter.`} onPointerDown=${(e) => {
		e.currentTarget.setPointerCapture(e.pointerId);
		setDrag({ a: at(e), b: at(e) });
	}} onPointerMove=${(e) => drag && setDrag({ ...drag, b: at(e) })} onPointerUp=${() => {
		if (drag && Math.abs(drag.a - drag.b) > 0.01) {
			const a = valueAt(Math.min(drag.a, drag.b)), b = valueAt(Math.max(drag.a, drag.b));
			const whole = Number.isInteger(numeric.min) && Number.isInteger(numeric.max);
			and(`${fieldName(field)} in ${whole ? Math.floor(a) : a}..${whole ? Math.ceil(b) : b}`);
		}
		setDrag(null);
	}}></canvas><div class="note">${value(numeric.min, 'none')} – ${value(numeric.max, 'none')}</div>`;
}

function fieldName(f) {
	return /^[A-Za-z_][\w.]*$/.test(f) ? f : `[${f}]`;
}

function Facet({ title, by, field, open = true }) {
	const [shown, setShown] = useState(open);
	const state = useAsk(shown ? 'facets' : null, { ...selection.value, by, field, top: 12 }, { later: true });
	/* Names of events are short, but for those that two providers have. */
	const short = (t) => t.slice(t.indexOf('/') + 1);
	const all = state.data?.rows ?? [];
	const name = (r) => (by === 'level' ? level(r.id) || r.text : by === 'type' && all.every((x) => x.text === r.text || short(x.text) !== short(r.text)) ? short(r.text) : r.text) || '(no name)';
	return html`<details open=${shown} onToggle=${(e) => setShown(e.target.open)}><summary>${visible(title)}</summary>
		${state.data?.numeric && html`<${Spread} numeric=${state.data.numeric} field=${field} />`}
		<ul>${state.data?.rows.map((r) => html`<li onContextMenu=${(e) => showMenu(e, filterEntries(r.filter, r.text))}><button disabled=${!r.filter} title=${visible(r.filter ?? r.text)} onClick=${() => and(r.filter)}><b>${visible(name(r))}</b><span>${count(r.count)}</span></button></li>`)}</ul></details>`;
}

/* ---- one event ---- */

function Hex({ text, mark }) {
	const cells = [];
	for (let at = 0; at < text.length && at < 8192; at += 16) {
		const part = text.slice(at, at + 16);
		const bytes = part.match(/../g) ?? [];
		const marked = (i) => mark && at / 2 + i >= mark.from && at / 2 + i < mark.to;
		const runs = (show, gap) => {
			const out = [];
			bytes.forEach((b, i) => {
				const t = show(b) + (i < bytes.length - 1 ? gap : '');
				const last = out[out.length - 1];
				if (last && last.on === marked(i)) {
					last.text += t;
				} else {
					out.push({ on: marked(i), text: t });
				}
			});
			return out.map((r) => (r.on ? html`<b>${r.text}</b>` : r.text));
		};
		const hex = bytes.join(' ').length;
		cells.push(`${(at / 2).toString(16).padStart(4, '0')}  `, ...runs((b) => b, ' '), ' '.repeat(25 - hex), ...runs((b) => (parseInt(b, 16) >= 32 && parseInt(b, 16) < 127 ? String.fromCharCode(parseInt(b, 16)) : '.'), ''), '\n');
	}
	return html`<div class="hex" tabindex="0" role="region" aria-label="Bytes of the payload">${cells}${text.length > 8192 ? '…' : ''}</div>`;
}

// Values of an array or struct in the order of the payload, with their paths.
function flat(value, path, out) {
	if (value !== null && typeof value === 'object') {
		const list = Array.isArray(value);
		Object.entries(value).forEach(([k, v]) => flat(v, list ? `${path}[${k}]` : path ? `${path}.${k}` : k, out));
	} else {
		out.push([path, value]);
	}
	return out;
}
const PARTS = 500; // lines; the rest is in the value itself
function partsOf(f) {
	let values = [];
	try {
		values = flat(JSON.parse(f.value), '', []);
	} catch {
		/* it was cut: names alone */
	}
	const paired = values.length === f.parts.length;
	return f.parts.slice(0, PARTS).map((p, i) => ({ ...p, name: paired ? values[i][0] : p.name, value: paired ? String(values[i][1]) : '' }));
}

export function Details({ row, onClose }) {
	const [again, setAgain] = useState(0); // the names of its call stack are being read
	const state = useAsk('row', { tr: selection.value.tr, row }, { still: true, again });
	const [mark, setMark] = useState(null);
	useEffect(() => setMark(null), [row]);
	useEffect(() => {
		if (!state.data?.naming || state.loading) {
			return undefined;
		}
		const later = setTimeout(() => setAgain((n) => n + 1), 700);
		return () => clearTimeout(later);
	}, [state.data, state.loading]);
	const choose = (place, seen) => {
		setMark(place);
		if (seen) {
			requestAnimationFrame(() => document.querySelector('.hex b')?.scrollIntoView({ block: 'nearest' }));
		}
	};
	const place = (p) => p.from !== undefined && { title: `bytes ${p.from}–${p.to - 1}`, onMouseEnter: () => choose(p), class: mark === p ? 'chosen' : '' };
	const title = (p, text) => (p.from !== undefined ? html`<button class="place" onClick=${() => choose(p, true)} onFocus=${() => choose(p)}>${visible(text)}</button>` : visible(text));
	const menuOf = (name, v, f) => (e) => showMenu(e, filterEntries(f, v, [{ text: `Group by ${name}`, run: () => keep('group', `field:${name}`, false) }]));
	const field = (f) => html`<tr ...${place(f)} onContextMenu=${menuOf(f.name, f.value, f.name.startsWith('_') ? null : `${fieldName(f.name)} == ${/^-?\d+$/.test(f.value) ? f.value : `"${f.value.replace(/"/g, '')}"`}`)}><th scope="row">${title(f, f.name)}</th><td>${visible(f.value)}</td></tr>
		${f.parts?.length > 0 && html`<tr><td colspan="2"><details><summary>${plural(f.parts.length, 'value')} of ${visible(f.name)}</summary><table>${partsOf(f).map((p) => html`<tr ...${place(p)}><th scope="row">${title(p, p.name)}</th><td>${visible(p.value)}</td></tr>`)}</table>${f.parts.length > PARTS && html`<p class="note">The first ${PARTS}.</p>`}</details></td></tr>`}`;
	const line = (name, v, f) => v !== null && v !== undefined && v !== '' && html`<tr onContextMenu=${menuOf(name, v, f)}><th scope="row">${visible(name)}</th><td>${visible(v)}</td></tr>`;
	return html`<aside class="details" aria-label="Event"><${Asked} state=${state}>${(e) => html`
		<div class="head"><h2>${visible(e.event)}</h2><span class="grow"></span><button class="quiet" aria-label="Close" onClick=${onClose}>×</button></div>
		<p class="dim">${visible(e.provider)} · ${e.date}</p>
		${e.message && html`<p>${visible(e.message)}</p>`}
		${e.not_decoded && html`<p class="warn">Not decoded: ${visible(e.not_decoded)}</p>`}
		<h3>Fields</h3><table>${e.fields.map(field)}</table>
		<h3>Header</h3><table>
			${line('time', time(e.time, 1))}${line('process', e.pid !== undefined ? `${e.process || 'process'} (${e.pid})` : null, `pid == ${e.pid}`)}${line('thread', e.tid !== undefined ? `${e.thread ? `${e.thread} ` : ''}${e.tid}` : null, `tid == ${e.tid}`)}
			${line('processor', e.cpu, `cpu == ${e.cpu}`)}${line('level', `${e.level} ${level(e.level)}`, `level == ${e.level}`)}${line('opcode', e.opcode, `opcode == ${e.opcode}`)}${line('task', e.task)}${line('keywords', e.keywords)}${line('channel', e.channel)}
			${line('activity', e.activity, `activity == ${e.activity}`)}${line('related', e.related)}${line('command', e.command)}${line('container', e.container)}</table>
		<h3>Related</h3><p>${e.activity && html`<button onClick=${() => go({ f: `activity == ${e.activity}` })}>same activity</button> `}<button onClick=${() => go({ f: `tid == ${e.tid}`, t0: e.time - 5e6, t1: e.time + 5e6 })}>same thread, ±5 ms</button></p>
		${e.stack.length > 0 && html`<h3>Call stack${e.naming && html` <small class="dim">names are being read…</small>`}</h3><ol class="stack">${e.stack.map((s) => html`<li title=${s.address}>${s.name ? html`<span class="dim">${visible(s.module)}!</span>${visible(s.name)}` : s.address}</li>`)}</ol>`}
		<h3>Schema</h3><table>${line('provider', e.schema.guid)}${line('id', e.schema.id, `id == ${e.schema.id}`)}${line('version', e.schema.version)}${line('from', e.schema.source)}</table>
		<h3>${plural(e.bytes, 'byte')}</h3>${e.bytes > 0 && html`<${Hex} text=${e.hex} mark=${mark} />${e.fields.some((f) => f.from !== undefined) && html`<p class="note">Point at a field, or choose its name, to see its bytes.</p>`}`}`}<//></aside>`;
}

/* ---- the list ---- */

// Ready columns: the ones that people always want first.
const presets = {
	'': { title: 'standard', fixed: ['time', 'process', 'tid', 'provider', 'event', 'level', 'text'] },
	where: { title: 'who and where', fixed: ['time', 'cpu', 'process', 'pid', 'tid', 'event', 'text'] },
	short: { title: 'time, event, fields', fixed: ['time', 'event', 'text'] },
};
const widths = { time: 104, cpu: 50, process: 130, pid: 65, tid: 65, provider: 140, event: 170, level: 74, text: Math.max(1000, screen.width - 700) };

function columnsOf(preset, fields) {
	const out = [];
	for (const id of presets[preset]?.fixed ?? presets[''].fixed) {
		if (id === 'text') {
			fields.forEach((f, i) => out.push({ id: `f:${f}`, field: `f:${f}`, name: visible(f), width: 130, resizable: true, formatter: (r, c, v, d, x) => visible(x?.cells[i] ?? '') }));
		}
		out.push({ id, field: id, name: id === 'text' ? 'fields' : id, width: widths[id], resizable: true, cssClass: ['cpu', 'pid', 'tid'].includes(id) ? 'cell-num' : '', formatter: (r, c, v, d, x) => (x ? x[id] : '…') });
	}
	return out;
}

// Where events are missing between the rows of a selection, as lines of the list.
const GAPS = 200; // each costs a question
async function gapsOf(s, signal) {
	const { lost } = info.value.lost.t0 !== undefined ? await get('hist', { tr: s.tr, t0: s.t0, t1: s.t1, px: 1, by: 'nothing' }, signal) : { lost: [] };
	const gaps = [];
	for (const l of lost.slice(0, GAPS)) {
		const { position } = await get('position', { ...s, t: Math.max(l.t0, s.t0 ?? -Infinity) }, signal);
		gaps.push({ after: position - 1, text: `${time(l.t0, 1e6)} – ${time(l.t1, 1e6)}: ${lossText(l)}` });
	}
	if (lost.length > GAPS) {
		toast(`${plural(lost.length, 'loss', 'losses')}: the list shows the first ${GAPS}, the page Diagnostics all of them`, 'info');
	}
	return gaps.sort((a, b) => a.after - b.after);
}

function List() {
	const s = selection.value;
	const fields = (kept('cols', '') || '').split('\t').filter(Boolean);
	const preset = kept('preset', '');
	const hl = kept('hl', '');
	const [chosen, setChosen] = useState(null);
	const [total, setTotal] = useState(null);
	const [answer, setAnswer] = useState(null);
	const grid = useRef(null);
	const rows = useMemo(() => {
		const load = async (at, n, signal) => {
			const a = await first(get('rows', { ...s, at, n, cols: fields.join(',') }, signal));
			const width = a.columns.length;
			return {
				total: a.total,
				answer: a.answer,
				thereAre: a.there_are,
				rows: a.rows.map((r) => {
					const [row, t, cpu, process, pid, tid, type, lv, text] = r;
					const names = a.types[type] ?? ['', '', 0];
					return { row, t, time: time(t, 1e3), cpu, pid: pid < 0 ? '' : pid, tid: tid < 0 ? '' : tid, process: visible(a.processes[process] ?? (pid < 0 ? '' : pid)), provider: visible(names[0]), event: visible(names[1]), level: level(lv), lv, text: visible(text), cells: r.slice(9, 9 + width) };
				}),
			};
		};
		const x = new Rows(load, (at, n, grew, a) => {
			setTotal(x.total);
			setAnswer({ ...a.answer, thereAre: a.thereAre });
			const g = grid.current;
			if (!g) {
				return;
			}
			if (grew) {
				g.updateRowCount();
			}
			const list = [];
			for (let i = at; i < at + n; i++) {
				list.push(x.lineOf(i));
			}
			g.invalidateRows(list);
			g.render();
			if (info.value?.live && follow.value && grew) {
				g.scrollRowIntoView(x.getLength() - 1);
			}
		});
		x.failed = (e) => toast(e.message);
		x.total = 1;
		return x;
	}, [s.tr, s.t0, s.t1, s.f, fields.join('\t')]);
	const gone = live.value?.first_row ?? 0, seen = useRef({ tick: tick.value, gone, at: 0 });
	useEffect(() => {
		if (seen.current.tick === tick.value) {
			return undefined;
		}
		const refresh = () => {
			rows.refresh(seen.current.gone !== gone || info.value?.progress?.whole !== seen.current.whole);
			seen.current = { tick: tick.value, gone, at: Date.now(), whole: info.value?.progress?.whole };
		};
		const early = seen.current.at + ((live.value?.rate ?? 0) > 5000 ? 1000 : 250) - Date.now();
		if (early <= 0) {
			refresh();
			return undefined;
		}
		const later = setTimeout(refresh, early); // what came last is shown as well, when nothing follows it
		return () => clearTimeout(later);
	}, [tick.value, rows]);
	const columns = useMemo(() => columnsOf(preset, fields), [preset, fields.join('\t')]);
	const at = kept('at');
	useEffect(() => {
		if (at !== undefined && grid.current) {
			rows.total = Math.max(rows.total, Number(at) + 1);
			const n = rows.lineOf(Number(at));
			grid.current.updateRowCount();
			grid.current.scrollRowIntoView(n);
			grid.current.setActiveCell(n, 0);
		}
	}, [at, rows]);
	useEffect(() => {
		const control = new AbortController();
		gapsOf(s, control.signal).then(
			(gaps) => {
				rows.gaps = gaps;
				grid.current?.updateRowCount();
				grid.current?.invalidate();
			},
			(e) => e.name !== 'AbortError' && toast(e.message),
		);
		return () => control.abort();
	}, [rows]);
	const menu = (e, line, column, row) => {
		if (!row) {
			return;
		}
		const i = rows.at(line).position;
		const f = { process: row.pid === '' ? null : `pid == ${row.pid}`, pid: `pid == ${row.pid}`, tid: `tid == ${row.tid}`, cpu: `cpu == ${row.cpu}`, provider: `provider == "${row.provider}"`, event: `provider == "${row.provider}" and event == "${row.event}"`, level: `level == ${row.lv}` }[column.id] ?? (column.id.startsWith('f:') ? `${fieldName(column.id.slice(2))} == "${row.cells[fields.indexOf(column.id.slice(2))]}"` : null);
		const key = { process: 'process_name', tid: 'thread', provider: 'provider', event: 'type', level: 'level', cpu: 'cpu' }[column.id] ?? (column.id.startsWith('f:') ? `field:${column.id.slice(2)}` : null);
		showMenu(e, filterEntries(f, column.id.startsWith('f:') ? row.cells[fields.indexOf(column.id.slice(2))] : row[column.id], [
			key && { text: 'Group by this', run: () => keep('group', key, false) },
			{ text: 'Everything before this', run: () => go({ t1: row.t }) },
			{ text: 'Everything from here on', run: () => go({ t0: row.t }) },
			{ text: 'First like this', run: () => f && jump(f, 0, false) },
			{ text: 'Next like this', run: () => f && jump(f, i + 1, false) },
			{ text: 'Previous like this', run: () => f && jump(f, i, true) },
		]));
	};
	const jump = async (g, from, back) => {
		try {
			const a = await get('find', { ...s, g, from, back });
			if (a.position === null) {
				toast('There is none', 'info');
			} else {
				keep('at', a.position);
			}
		} catch (e) {
			toast(e.message);
		}
	};
	return html`<div class=${`events ${chosen !== null ? 'withdetails' : ''}`}>
		<div class="facets" tabindex="0" role="region" aria-label="Facets">
			<${Facet} title="Provider" by="provider" /><${Facet} title="Event" by="type" /><${Facet} title="Process" by="process_name" /><${Facet} title="Level" by="level" /><${Facet} title="Processor" by="cpu" open=${false} /><${Facet} title="Thread" by="thread" open=${false} />
			${info.value.files?.length > 1 && html`<${Facet} title="File" by="file" />`}
			${fields.map((f) => html`<${Facet} key=${f} title=${f} by="field" field=${f} />`)}
		</div>
		<div class="list">
			<${Toolbar} total=${total} answer=${answer} fields=${fields} preset=${preset} />
			<${Grid} columns=${columns} rows=${rows} onReady=${(g) => {
				grid.current = g;
				rows.want(0);
			}} onChoose=${(i, row) => row && setChosen(row.row)} onMenu=${menu}
				meta=${(row) => ({ cssClasses: [row && row.row === chosen ? 'chosen' : '', row && row.lv === 3 ? 'warning' : row && (row.lv === 1 || row.lv === 2) ? 'error' : '', hl && row && matchesLoosely(row, hl) ? 'match' : ''].join(' ') })} />
		</div>
		${chosen !== null && html`<${Details} row=${chosen} onClose=${() => setChosen(null)} />`}
	</div>`;
}

// Highlighting what the row itself shows; [ and ] ask the server.
function matchesLoosely(row, hl) {
	const m = /^(\w+) == "?([^"]*)"?$/.exec(hl);
	return m ? String(row[m[1]] ?? '') === m[2] : false;
}

function Toolbar({ total, answer, fields, preset, group }) {
	const state = useAsk('columns', selection.value, { still: true, later: !group });
	const add = (f) => f && keep('cols', [...fields, f].join('\t'), false);
	return html`<div class="toolbar">
		${total !== undefined && html`<b>${plural(total ?? 0, 'event')}</b>`}${answer?.thereAre > total && html`<span class="dim">are in this file, the first of ${count(answer.thereAre)}</span>`}${answer?.partial && html`<span class="dim">so far (${Math.round(100 * answer.covered)} % of the trace)</span>`}${answer?.undecided > 0 && html`<span class="warn">${plural(answer.undecided, 'event')} could not be judged</span>`}${total !== undefined && info.value.lost.events > 0 && html`<span class="bad" title=${info.value.lost_sentence}>${plural(info.value.lost.events, 'event')} lost</span>`}
		<span class="grow"></span>
		${info.value.live && html`<${Source} filter=${filter.value} />`}
		${info.value.live && html`<label><input type="checkbox" checked=${follow.value} onChange=${(e) => (follow.value = e.target.checked)} /> follow</label>`}
		<label>Columns <select value="" onChange=${(e) => {
			const v = e.target.value;
			e.target.value = '';
			add(v);
		}}><option value="">add a field …</option>${(state.data?.columns ?? []).filter((c) => !fields.includes(c.name)).map((c) => html`<option value=${c.name}>${visible(c.name)}</option>`)}</select></label>
		${fields.map((f) => html`<button class="quiet" title="Remove this column" onClick=${() => keep('cols', fields.filter((x) => x !== f).join('\t'), false)}>${visible(f)} ×</button>`)}
		<label>Set <select value=${preset} onChange=${(e) => keep('preset', e.target.value, false)}>${Object.entries(presets).map(([k, p]) => html`<option value=${k} selected=${k === preset}>${p.title}</option>`)}</select></label>
		<button onClick=${() => keep('group', kept('group') ? '' : 'provider,type', false)} aria-pressed=${!!kept('group')}>${kept('group') ? 'List' : 'Group'}</button>
		<${Command} words=${['dump', ...(fields.length ? ['--fields', ['time', 'event', ...fields].join(',')] : [])]} />
	</div>`;
}

/* ---- groups ---- */

const keyNames = { provider: 'provider', type: 'event', process_name: 'process', process: 'process (pid)', thread: 'thread', level: 'level', cpu: 'processor', container: 'container', file: 'file' };

function Groups() {
	const keys = kept('group').split(',').filter(Boolean);
	const measure = kept('measure', '');
	const [open, setOpen] = useState(new Set());
	const state = useAsk('group', { ...selection.value, by: keys.join(','), field: measure, top: 200 });
	const columns = useAsk('columns', selection.value, { still: true });
	const set = (list) => keep('group', list.join(','), false);
	const dragged = useRef(null);
	// Left of the bar are keys, right of it numbers: what is dragged across changes its side.
	const drag = (what) => ({
		draggable: true,
		onDragStart: (e) => {
			dragged.current = what;
			e.dataTransfer.effectAllowed = 'move';
			e.dataTransfer.setData('text/plain', what);
		},
		onDragOver: (e) => e.preventDefault(),
	});
	const numeric = (k) => (columns.data?.columns ?? []).some((c) => c.numeric && `field:${c.name}` === k);
	const drop = (e, before) => {
		e.preventDefault();
		const what = dragged.current;
		dragged.current = null;
		if (!what) {
			return;
		}
		const list = keys.filter((k) => k !== what);
		const extras = { group: '', measure };
		if (before === null) {
			extras.measure = numeric(what) ? what.slice(6) : measure;
		} else {
			list.splice(before < 0 ? list.length : before, 0, what);
			extras.measure = what === `field:${measure}` ? '' : measure;
		}
		extras.group = list.join(',');
		if (list.length) {
			go({ extra: { ...extra.value, ...extras } });
		}
	};
	const name = (g, k) => visible(k === 'type' && keys.slice(0, g.depth - 1).includes('provider') ? g.text.slice(g.text.indexOf('/') + 1) : g.text);
	const numbers = measure ? [['count', 'events'], ['sum', `sum(${measure})`], ['avg', 'avg'], ['p50', 'p50'], ['p99', 'p99'], ['max', 'max']] : [['count', 'events']];
	return html`<div class="list stretch">
		<div class="toolbar">
			<span>Group by</span>${keys.map((k, i) => html`<span class="chip" ...${drag(k)} onDrop=${(e) => drop(e, i)}><button title="To the left" aria-label=${`Move ${k} to the left`} disabled=${i === 0} onClick=${() => {
				const list = [...keys];
				[list[i - 1], list[i]] = [list[i], list[i - 1]];
				set(list);
			}}>‹</button> ${visible(keyNames[k] ?? k.replace('field:', ''))} <button class="quiet" aria-label=${`Do not group by ${k}`} onClick=${() => set(keys.filter((x) => x !== k))}>×</button></span>`)}
			<select value="" aria-label="Group by one more" onChange=${(e) => {
				const v = e.target.value;
				e.target.value = '';
				if (v) {
					set([...keys, v]);
				}
			}}><option value="">and by …</option>${Object.entries(keyNames).filter(([k]) => !keys.includes(k)).map(([k, t]) => html`<option value=${k}>${t}</option>`)}${(columns.data?.columns ?? []).map((c) => html`<option value=${`field:${c.name}`}>${visible(c.name)}</option>`)}</select>
			<label>Numbers of <select value=${measure} onChange=${(e) => keep('measure', e.target.value, false)}><option value="">count only</option>${(columns.data?.columns ?? []).filter((c) => c.numeric).map((c) => html`<option value=${c.name} selected=${c.name === measure}>${visible(c.name)}</option>`)}</select></label>
			<span class="grow"></span><button onClick=${() => keep('group', '', false)}>List</button>
		</div>
		<${Asked} state=${state}>${(a) => {
			const all = a.rows;
			const shown = all.filter((g, i) => {
				let p = g.parent;
				while (p !== undefined) {
					if (!open.has(p)) {
						return false;
					}
					p = all[p].parent;
				}
				return true;
			});
			const most = Math.max(1, ...all.filter((g) => g.depth === 1).map((g) => g.count));
			return html`<div class="tablewrap" tabindex="0" role="region" aria-label="Groups"><table class="data" role="treegrid" aria-label="Groups"><thead><tr>${keys.map((k, i) => html`<th scope="col" class=${`dragged ${i === keys.length - 1 ? 'lastkey' : ''}`} title="Drag it across the bar, or to another place" ...${drag(k)} onDrop=${(e) => drop(e, i)}><button tabindex="-1">${visible(keyNames[k] ?? k.replace('field:', ''))}</button></th>`)}${numbers.map(([n, t]) => html`<th class="num" scope="col" ...${n === 'count' ? { onDragOver: (e) => e.preventDefault() } : drag(`field:${measure}`)} onDrop=${(e) => drop(e, null)}><button tabindex="-1">${visible(t)}</button></th>`)}</tr></thead>
				<tbody>${shown.slice(0, 3000).map((g) => {
					const i = all.indexOf(g), leaf = g.depth === keys.length;
					const toggle = () => {
						const next = new Set(open);
						if (next.has(i)) {
							next.delete(i);
						} else {
							next.add(i);
						}
						setOpen(next);
					};
					return html`<tr aria-level=${g.depth} aria-expanded=${leaf ? undefined : open.has(i)} onContextMenu=${(e) => showMenu(e, filterEntries(g.filter, g.text))}>${keys.map((k, c) => html`<td class=${c === keys.length - 1 ? 'lastkey' : ''}>${c + 1 === g.depth ? (leaf || g.rest ? html`${name(g, k)}` : html`<button class="quiet" aria-label=${open.has(i) ? 'Close' : 'Open'} onClick=${toggle}>${open.has(i) ? '▾' : '▸'}</button>${name(g, k)}`) : ''}</td>`)}
						${numbers.map(([n]) => html`<td class="num">${n === 'count' ? count(g.count) : value(g[n], 'none')}${n === 'count' && html`<span class="share" ref=${(e) => e && (e.style.width = `${(100 * g.count) / most}%`)}></span>`}</td>`)}</tr>`;
				})}</tbody></table></div>`;
		}}<//></div>`;
}

export default function Events() {
	filter.value;
	live.value;
	return kept('group') ? html`<${Groups} />` : html`<${List} />`;
}
