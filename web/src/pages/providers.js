// SPDX-License-Identifier: MIT
// Every provider that is registered, described, or seen: its events, fields, keywords and maps, a sample; and how to record it.
import { html, useEffect, useMemo, useRef, useState } from '../ui.js';
import { tr, traces, kept, keep, useAsk, go, toast, askTraces } from '../state.js';
import { post, address } from '../api.js';
import { Asked } from '../widgets/asked.js';
import { DataTable } from '../widgets/table.js';
import { Tabs } from '../widgets/tabs.js';
import { copy } from '../shell/menu.js';
import { count, visible, level, plural } from '../text.js';

const EVENTS = 500; // rows that are drawn

const short = (name) => name?.replace(/^win:/, '');

/* ---- one event ---- */

function Event({ e }) {
	return html`${e.message && html`<p>${visible(e.message)}</p>`}
		<dl class="about">${[['task', short(e.task_name)], ['opcode', e.opcode ? `${e.opcode} ${short(e.opcode_name) ?? ''}` : ''], ['channel', e.channel ? `${e.channel} ${e.channel_name ?? ''}` : ''], ['keywords', e.keyword_names?.length ? e.keyword_names.map(short).join(', ') : ''], ['symbol', e.symbol]].filter(([, v]) => v).map(([k, v]) => html`<dt>${k}</dt><dd>${visible(v)}</dd>`)}</dl>
		${e.fields.length > 0 ? html`<h4>Fields</h4><dl class="about">${e.fields.map((f) => html`<dt class="mono">${visible(f.name)}</dt><dd>${visible(f.type)}${f.map && html` <span class="dim">map ${visible(f.map)}</span>`}</dd>`)}</dl>` : html`<p class="dim">It has no fields.</p>`}
		${e.sample && html`<h4>A sample of this trace</h4><pre class="pre wrap">${visible(e.sample)}</pre>`}
		${e.seen > 0 && e.filter && html`<p><button onClick=${() => go({ page: 'events', f: e.filter })}>Show ${plural(e.seen, 'event')}</button></p>`}`;
}

function Events({ events }) {
	const [open, setOpen] = useState(null);
	const [text, setText] = useState('');
	const shown = useMemo(() => {
		const t = text.trim().toLowerCase();
		return t ? events.filter((e) => [e.name, e.symbol ?? '', String(e.id), e.message ?? '', ...e.fields.map((f) => f.name)].some((s) => s.toLowerCase().includes(t))) : events;
	}, [events, text]);
	return html`<p><input aria-label="Search its events" placeholder="Name of an event or field" value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${(e) => e.stopPropagation()} /> <span class="dim">${plural(shown.length, 'event')}</span></p>
		<div class="tablewrap" tabindex="0" role="region" aria-label="Events"><table class="data fixed"><colgroup>${['w1', 'w1', 'w4', 'w2', 'w3', 'w2', 'w4'].map((w) => html`<col class=${w} />`)}</colgroup><thead><tr>${['id', 'ver', 'name', 'level', 'keywords', 'seen', 'fields'].map((t, i) => html`<th scope="col" class=${[0, 1, 5].includes(i) ? 'num' : ''}>${t}</th>`)}</tr></thead><tbody>
		${shown.slice(0, EVENTS).map((e) => html`<tr key=${`${e.id}/${e.version}/${e.name}`} class=${open === e ? 'chosen' : ''} onClick=${() => setOpen(open === e ? null : e)}><td class="num">${e.id}</td><td class="num">${e.version}</td><td><button class="place" aria-expanded=${open === e}>${visible(e.name || '(no name)')}</button></td><td>${level(e.level)}</td><td title=${e.keywords}>${e.keyword_names?.length ? visible(e.keyword_names.map(short).join(' ')) : html`<span class="mono">${e.keywords}</span>`}</td><td class="num">${e.seen ? count(e.seen) : ''}</td><td title=${visible(e.fields.map((f) => f.name).join(', '))}>${visible(e.fields.map((f) => f.name).join(', '))}</td></tr>
			${open === e && html`<tr class="opened"><td colspan="7"><${Event} e=${e} /></td></tr>`}`)}</tbody></table></div>
		${shown.length > EVENTS && html`<p class="note">The first ${EVENTS} of ${count(shown.length)}. Search for the others.</p>`}`;
}

/* ---- now ---- */

// What it writes within two seconds, in a session of the user's own.
function Probe({ name }) {
	const [state, setState] = useState(null);
	const watch = async () => {
		setState({ watching: true });
		try {
			setState(await post('probe', { provider: name }));
		} catch (e) {
			setState({ events: [], why: e.message });
		}
	};
	return html`<p><button onClick=${watch} disabled=${state?.watching}>${state?.watching ? 'Watching for two seconds …' : 'Watch it for two seconds'}</button> <code class="dim">openetw live -p ${visible(name)}</code></p>
		${state?.why && html`<p role="status" class="warn">${visible(state.why)}</p>`}
		${state?.events?.length > 0 && html`<ul class="samples" role="status">${state.events.map(({ meta, ...fields }) => html`<li><b>${visible(meta?.event)}</b> <span class="dim">${visible(meta?.process ?? meta?.pid ?? '')}</span> <span class="mono">${visible(JSON.stringify(fields))}</span></li>`)}</ul>`}`;
}

const recording = new Map(); // of providers that this page records: their sessions

function Record({ name, guid, command }) {
	const [session, setSession] = useState(recording.get(guid));
	const start = async () => {
		try {
			const a = await post('sessions', { do: 'start', provider: name });
			recording.set(guid, a);
			setSession(a);
		} catch (e) {
			toast(e.message);
		}
	};
	const stop = async () => {
		try {
			const a = await post('sessions', { do: 'stop', session: session.session });
			recording.delete(guid);
			setSession(undefined);
			toast(`Recorded into ${a.path}`, 'info');
			if (a.tr !== undefined) {
				await askTraces();
				go({ page: 'events', tr: a.tr, t0: null, t1: null, f: '' });
			}
		} catch (e) {
			toast(e.message);
		}
	};
	return html`<p>${session ? html`<button class="main-button" onClick=${stop}>Stop and open</button> <span role="status">Recording into ${visible(session.path)}</span>` : html`<button class="main-button" onClick=${start}>Record this</button>`} <code class="dim">${visible(session?.command ?? command)}</code></p>`;
}

/* ---- one provider ---- */

const tabs = (p) => [
	['events', `Events (${count(p.events.length)})`],
	...[['keywords', 'Keywords'], ['maps', 'Maps'], ['channels', 'Channels'], ['tasks', 'Tasks'], ['opcodes', 'Opcodes'], ['levels', 'Levels']].filter(([k]) => p[k].length).map(([k, t]) => [k, `${t} (${count(p[k].length)})`]),
	['now', 'Now'],
];

function Part({ p, id, registered }) {
	if (id === 'events') {
		return p.events.length ? html`<${Events} events=${p.events} />` : html`<div class="teach"><p>Nobody here knows what it writes. Install its manifest: <code>openetw wevtutil im FILE.man</code>, or drop it on the page Diagnostics. Providers that use TraceLogging need none: watch it.</p></div>`;
	}
	if (id === 'maps') {
		return p.maps.map((m) => html`<details key=${m.name}><summary>${visible(m.name)} <span class="dim">${m.bits ? 'bits' : 'values'}, ${count(m.values.length)}</span></summary><dl class="about">${m.values.map(([n, t]) => html`<dt class="mono">${m.bits ? `0x${n.toString(16)}` : n}</dt><dd>${visible(t)}</dd>`)}</dl></details>`);
	}
	if (id === 'now') {
		return html`<${Record} key=${`r${p.guid}`} name=${p.name} guid=${p.guid} command=${p.commands.openetw} /><${Probe} key=${`p${p.guid}`} name=${p.name} />
			<h3>Registered by</h3>${registered.length ? html`<${DataTable} label="Processes" columns=${[{ name: 'process', key: true }, { name: 'pid', unit: 'none' }, { name: 'enabled for', unit: 'none' }]} rows=${registered.map((r) => [r.process, r.pid, r.enabled?.length ? plural(r.enabled.length, 'session') : ''])} />` : html`<p class="dim">No process has it registered now.</p>`}`;
	}
	const mask = id === 'keywords';
	return html`<${DataTable} label=${id} columns=${[{ name: 'name', key: true }, mask ? { name: 'mask' } : { name: 'value', number: true, unit: 'none' }, { name: 'text' }, ...(id === 'opcodes' ? [{ name: 'task' }] : [])]} rows=${p[id].map((k) => [k.name, mask ? k.mask : k.value, k.text, ...(id === 'opcodes' ? [k.task] : [])])} share=${-1} />`;
}

function Provider({ guid, registered }) {
	const state = useAsk('provider', { tr: traces.value.length ? tr.value : undefined, guid }, { still: true });
	return html`<${Asked} state=${state}>${(p) => html`<section class="card provider">
		<div class="head"><h2>${visible(p.name)}</h2><code class="dim">${p.guid}</code></div>
		<p class="dim">Described by ${visible(p.source)}${p.seen ? ` · ${plural(p.seen, 'event')} in this trace` : ''}${registered.length ? ` · registered by ${plural(registered.length, 'process', 'processes')}` : ''}</p>
		<p class="buttonrow">${p.seen > 0 && html`<button onClick=${() => go({ page: 'events', f: `provider == "${p.name}"` })}>Show its events</button>`}
			${p.man && html`<a class="button" href=${address('man', { guid: p.guid })} download>Save manifest</a>`}
			${Object.entries(p.commands).map(([k, line]) => html`<button title=${visible(line)} onClick=${() => copy(line)}>Copy for ${k}</button>`)}</p>
		<${Tabs} name="part" tabs=${tabs(p)}>${(id) => html`<${Part} p=${p} id=${id} registered=${registered} />`}<//>
	</section>`}<//>`;
}

/* ---- the list ---- */

const shows = { all: 'all', seen: 'in this trace', registered: 'registered now', installed: 'with an installed manifest', known: 'of the catalogue' };

// Each once: what the trace has, what a manifest or the catalogue describes, what processes have registered.
function joined(a, q) {
	const by = new Map();
	for (const p of a.providers) {
		const key = p.guid.toLowerCase(), old = by.get(key);
		by.set(key, { ...old, ...p, name: old?.name ?? p.name, seen: old?.seen ?? p.seen, kind: p.installed || p.known ? p.kind : (old?.kind ?? p.kind), matches: [...new Set([...(old?.matches ?? []), ...(p.matches ?? [])])] });
	}
	const t = q.toLowerCase();
	for (const r of a.registered ?? []) {
		const key = (String(r.guid).startsWith('{') ? r.guid : `{${r.guid}}`).toLowerCase();
		const p = by.get(key) ?? (!t || `${r.name} ${key} ${r.process}`.toLowerCase().includes(t) ? { guid: key, name: r.name && r.name !== '-' ? r.name : key, kind: r.kind, matches: [] } : null);
		if (p) {
			p.registered = [...(p.registered ?? []), r];
			by.set(key, p);
		}
	}
	return [...by.values()].sort((x, y) => (y.seen ?? 0) - (x.seen ?? 0) || (y.registered ? 1 : 0) - (x.registered ? 1 : 0) || x.name.localeCompare(y.name));
}

function List({ all, guid }) {
	const show = kept('show', 'all');
	const list = all.filter((p) => show === 'all' || (show === 'seen' ? p.seen > 0 : show === 'registered' ? p.registered : p[show]));
	return html`<div class="card side"><p><label>Show <select value=${show} onChange=${(e) => keep('show', e.target.value)}>${Object.entries(shows).map(([k, t]) => html`<option value=${k} selected=${k === show}>${t}</option>`)}</select></label> <span class="dim" role="status">${plural(list.length, 'provider')}</span></p>
		${list.length === 0 && html`<p class="dim">There is none.</p>`}
		<ul class="pick">${list.slice(0, 2000).map((p) => html`<li key=${p.guid}><button aria-current=${p.guid === guid} onClick=${() => keep('guid', p.guid, false)}><span class="name">${visible(p.name)}</span><small class="dim">${[p.seen ? `${count(p.seen)} seen` : '', p.registered ? `registered by ${p.registered.length}` : '', p.installed ? 'installed' : '', p.known ? 'catalogue' : '', p.kind].filter(Boolean).join(' · ')}</small>${p.matches.length > 0 && html`<small>${visible(p.matches.join(', '))}</small>`}</button></li>`)}</ul></div>`;
}

export default function Providers() {
	const q = kept('q', '');
	const [text, setText] = useState(q);
	const pause = useRef(null);
	const state = useAsk('providers', { tr: traces.value.length ? tr.value : undefined, q }, { still: true });
	const guid = kept('guid', '');
	useEffect(() => () => clearTimeout(pause.current), []);
	useEffect(() => setText((t) => (t.trim() === q ? t : q)), [q]);
	const search = (t, now) => {
		setText(t);
		clearTimeout(pause.current);
		pause.current = setTimeout(() => keep('q', t.trim()), now ? 0 : 300);
	};
	return html`<div class="head"><h1>Providers</h1><input class="wideinput" type="search" aria-label="Search" placeholder="Name of a provider, an event, a field" value=${text} onInput=${(e) => search(e.target.value)} onKeyDown=${(e) => {
			e.stopPropagation();
			if (e.key === 'Enter') {
				search(e.target.value, true);
			}
		}} /></div>
		<${Asked} state=${state}>${(a) => {
			const all = joined(a, q);
			const registered = all.find((p) => p.guid === guid)?.registered ?? (a.registered ?? []).filter((r) => guid.toLowerCase().includes(String(r.guid).toLowerCase()));
			return html`<div class="two"><${List} all=${all} guid=${guid} />
				${guid ? html`<${Provider} key=${guid} guid=${guid} registered=${registered} />` : html`<div class="teach"><p>Choose a provider to see its events, fields, keywords and maps, and to record it.</p></div>`}</div>`;
		}}<//>`;
}
