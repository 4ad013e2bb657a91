// SPDX-License-Identifier: MIT
// What is in this trace: a sentence, a picture, the first answers.
import { html, useState } from '../ui.js';
import { info, selection, range, useAsk, go, and, zoom, tick, toast } from '../state.js';
import { post } from '../api.js';
import { count, duration, time, visible, bytes, plural } from '../text.js';
import { Density } from '../widgets/density.js';
import { Tabs } from '../widgets/tabs.js';
import { DataTable } from '../widgets/table.js';
import { Asked } from '../widgets/asked.js';
import { Command } from '../shell/command.js';
import { showMenu, filterEntries } from '../shell/menu.js';
import { marks, views, changeMark, removeMark, addMark, saveView, removeView } from '../shell/marks.js';

function Causes() {
	const whole = info.value.progress.whole && !info.value.live;
	const s = selection.value;
	const state = useAsk(whole && info.value.kind === 'machine' ? 'cards' : null, { tr: s.tr, t0: s.t0, t1: s.t1, part: 'causes' }, { later: true });
	const list = (state.data?.causes ?? []).filter((c) => c.cause);
	if (list.length === 0) {
		return null;
	}
	return html`<div class="causes" role="region" aria-label="What went wrong"><b>What went wrong</b>${list.map((c) => html`<p>${visible(c.text)} <button class="quiet" onClick=${() => and(`tid == ${c.tid}`)}>only this thread</button></p>`)}</div>`;
}

function Card({ card }) {
	return html`<section class="card" aria-labelledby=${`card-${card.id}`}>
		<div class="head"><h2 id=${`card-${card.id}`}>${card.title}</h2><span class="grow"></span>
			${card.rows.length > 0 && html`<a href=${`#${card.page}`} onClick=${(e) => {
				e.preventDefault();
				go({ page: card.page });
			}}>more</a>`}</div>
		${card.teach && html`<p class="dim">${card.teach} ${card.record && html`<code>${card.record}</code> records them.`}</p>`}
		<ul class="bars">${card.rows.map((r) => {
			const row = html`<div class="label"><b title=${visible(r.label)}>${visible(r.label)}</b><span title=${visible(r.text)}>${visible(r.text)}</span></div><div class="bar"><i ref=${(e) => e && (e.style.width = `${Math.min(100, 100 * r.share)}%`)}></i></div>`;
			return html`<li onContextMenu=${(e) => showMenu(e, filterEntries(r.filter, r.label))}>${r.filter ? html`<button title=${r.filter} onClick=${() => and(r.filter)}>${row}</button>` : row}</li>`;
		})}</ul>
	</section>`;
}

function LiveCard() {
	const [path, setPath] = useState('');
	const s = selection.value;
	const save = async () => {
		try {
			const a = await post('keep', { tr: s.tr, t0: s.t0, t1: s.t1, f: s.f });
			setPath(a.path);
		} catch (e) {
			toast(e.message);
		}
	};
	return html`<section class="card"><p>This is a session as it runs: the last events are kept in memory, and every page shows them as they come.</p><p><button class="main-button" onClick=${save}>Keep what is there as a file</button> ${path && html`<span role="status">written: <code>${visible(path)}</code></span>`}</p></section>`;
}

function Cards() {
	const state = useAsk(info.value.progress.whole && !info.value.live ? 'cards' : null, selection.value, { later: true });
	if (info.value.live) {
		return html`<${LiveCard} />`;
	}
	if (!info.value.progress.whole) {
		return html`<p class="note">The answers come when the index is whole; what is there can be looked at already.</p>`;
	}
	return html`<${Asked} state=${state}>${(a) => html`<div class="cards">${a.cards.map((c) => html`<${Card} key=${c.id} card=${c} />`)}</div>`}<//>`;
}

// Children below their parent, in the order of their starts.
function tree(list) {
	const byPid = new Map();
	for (const p of list) {
		byPid.set(p.pid, [...(byPid.get(p.pid) ?? []), p]);
	}
	const parent = (p) => (byPid.get(p.parent) ?? []).find((q) => q !== p && (q.start ?? -Infinity) <= (p.start ?? -Infinity) && (q.end ?? Infinity) >= (p.start ?? -Infinity));
	const children = new Map();
	const roots = [];
	for (const p of list) {
		const q = p.pid === 0 ? null : parent(p);
		if (q && q.process !== p.process) {
			children.set(q.process, [...(children.get(q.process) ?? []), p]);
		} else {
			roots.push(p);
		}
	}
	const out = [], seen = new Set();
	const walk = (p, depth) => {
		if (seen.has(p.process) || depth > 60) {
			return;
		}
		seen.add(p.process);
		out.push([p, depth]);
		(children.get(p.process) ?? []).forEach((c) => walk(c, depth + 1));
	};
	roots.forEach((p) => walk(p, 0));
	list.forEach((p) => walk(p, 0));
	return out;
}

function Processes() {
	const state = useAsk('processes', { tr: selection.value.tr }, { later: true });
	const i = info.value;
	const w = Math.max(1, i.last - Math.min(0, i.first)), x0 = Math.min(0, i.first);
	return html`<${Asked} state=${state}>${(a) => html`<div class="tablewrap" tabindex="0" role="region" aria-label="Processes"><table class="data">
		<thead><tr>${['Process', 'pid', 'Life', 'Exit code', 'Events', 'Command line'].map((t) => html`<th scope="col" class=${['pid', 'Exit code', 'Events'].includes(t) ? 'num' : ''}><button tabindex="-1">${t}</button></th>`)}</tr></thead>
		<tbody>${tree(a.processes).slice(0, 3000).map(([p, depth]) => html`<tr onContextMenu=${(e) => showMenu(e, filterEntries(`pid == ${p.pid}`, p.name, [{ text: 'Select its lifetime', run: () => zoom(p.start ?? x0, p.end ?? i.last) }]))}>
			<td ref=${(e) => e && (e.style.paddingLeft = `${0.6 + depth * 1.1}rem`)}><button class="quiet" onClick=${() => and(`pid == ${p.pid}`)}>${visible(p.name) || `process ${p.pid}`}</button>${p.container && html` <span class="dim">${visible(p.container)}</span>`}</td>
			<td class="num">${p.pid}</td>
			<td title=${`${p.start === null ? 'from before' : time(p.start, 1e6)} – ${p.end === null ? 'to behind the end' : time(p.end, 1e6)}`}><div class="life"><i ref=${(e) => {
				if (e) {
					const from = ((p.start ?? x0) - x0) / w, to = ((p.end ?? i.last) - x0) / w;
					e.style.left = `${100 * from}%`;
					e.style.width = `${100 * Math.max(0.002, to - from)}%`;
				}
			}}></i></div></td>
			<td class=${`num ${p.exit_code ? 'bad' : ''}`}>${p.exit_code ?? ''}</td><td class="num">${count(p.events)}</td><td title=${visible(p.command)}>${visible(p.command)}</td></tr>`)}</tbody></table></div>`}<//>`;
}

function Providers() {
	const state = useAsk('facets', { ...selection.value, by: 'provider', top: 500 });
	return html`<${Asked} state=${state}>${(a) => html`<${DataTable} label="Providers" columns=${[{ name: 'provider', key: true }, { name: 'events', number: true, unit: 'none' }, { name: 'first', number: true, unit: 'time' }, { name: 'last', number: true, unit: 'time' }]} rows=${a.rows.map((r) => [r.text, r.count, r.first, r.last])} onRow=${(row) => and(a.rows.find((r) => r.text === row[0])?.filter ?? '')} />`}<//>`;
}

function Marks() {
	const [text, setText] = useState('');
	const r = range.value;
	return html`<div>
		<p><input aria-label="Note" placeholder="A note about this time" value=${text} onInput=${(e) => setText(e.target.value)} /> <button onClick=${() => {
			addMark((r.t0 + r.t1) / 2, text || undefined);
			setText('');
		}}>Mark the middle of the selection</button> <button onClick=${() => saveView(text || `view ${views.value.length + 1}`)}>Save this view</button></p>
		${marks.value.length === 0 && html`<p class="dim">No marks yet. M marks the middle of what is shown; marks are kept in a small file beside the trace.</p>`}
		<ul class="pick">${marks.value.map((m) => html`<li class="head"><button onClick=${() => zoom(m.t - 50e6, m.t + 50e6)}>${time(m.t, 1e6)}</button><input aria-label="Text of the mark" value=${m.text} onChange=${(e) => changeMark(m.id, e.target.value)} /><button class="quiet" aria-label="Remove the mark" onClick=${() => removeMark(m.id)}>×</button></li>`)}</ul>
		${views.value.length > 0 && html`<h3>Saved views</h3><ul class="pick">${views.value.map((v) => html`<li class="head"><a href=${String(v.url).startsWith('#') ? v.url : '#overview'}>${visible(v.name)}</a><button class="quiet" aria-label="Remove the view" onClick=${() => removeView(v.id)}>×</button></li>`)}</ul>`}
	</div>`;
}

function About() {
	const state = useAsk('diag', { tr: selection.value.tr }, { still: true });
	const i = info.value;
	return html`<dl class="about"><dt>Start</dt><dd>${i.start}</dd><dt>Length</dt><dd>${duration(i.last - i.first)}</dd>${i.files.map((f) => html`<dt>File</dt><dd class="mono">${visible(f.path)}</dd>`)}</dl>
		<${Asked} state=${state}>${(a) => html`<pre class="pre">${(a.about ?? []).map(visible).join('\n')}</pre>`}<//>`;
}

export default function Overview() {
	const i = info.value;
	tick.value;
	const bad = i.lost.events > 0 || i.lost.buffers > 0 || i.lost.unknown;
	return html`
		<div class="head"><p class="sentence">${i.sentence}</p><span class="grow"></span><${Command} words=${['report']} /></div>
		<p class=${`lostline ${bad ? 'bad' : ''}`}>${bad ? html`<a href="#diagnostics" onClick=${(e) => {
			e.preventDefault();
			go({ page: 'diagnostics' });
		}}>${i.lost_sentence}</a>` : i.lost_sentence}</p>
		<${Density} />
		<${Causes} /><${Cards} />
		<${Tabs} tabs=${[['processes', 'Processes'], ['providers', 'Providers in this trace'], ['marks', `Marks${marks.value.length ? ` (${marks.value.length})` : ''}`], ['about', 'About this recording']]}>
			${(id) => (id === 'processes' ? html`<${Processes} />` : id === 'providers' ? html`<${Providers} />` : id === 'marks' ? html`<${Marks} />` : html`<${About} />`)}
		<//>`;
}
