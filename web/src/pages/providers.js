// SPDX-License-Identifier: MIT
// Every provider that is registered, installed, or seen: its events, their fields, a sample.
import { html, useState } from '../ui.js';
import { tr, traces, kept, keep, useAsk, go } from '../state.js';
import { Asked } from '../widgets/asked.js';
import { DataTable } from '../widgets/table.js';
import { copy } from '../shell/menu.js';
import { count, visible, level, plural } from '../text.js';

function Provider({ guid }) {
	const state = useAsk('provider', { tr: tr.value, guid }, { still: true });
	const [open, setOpen] = useState(null);
	return html`<${Asked} state=${state}>${(p) => html`<div class="card">
		<div class="head"><h2>${visible(p.name)}</h2><code class="dim">${p.guid}</code></div>
		<p>${visible(p.source)}${p.seen ? ` · ${plural(p.seen, 'event')} in this trace` : ''}</p>
		<p class="head">${Object.entries(p.commands ?? {}).map(([k, line]) => html`<button title=${line} onClick=${() => copy(line)}>Copy for ${k}</button>`)}${p.seen > 0 && html`<button onClick=${() => go({ page: 'events', f: `provider == "${p.name}"` })}>Show its events</button>`}</p>
		${p.events.length > 0 && html`<h3>${plural(p.events.length, 'event')}</h3><div class="tablewrap"><table class="data"><thead><tr>${['id', 'version', 'Name', 'Level', 'Keywords', 'Seen', 'Fields'].map((t) => html`<th scope="col"><button tabindex="-1">${t}</button></th>`)}</tr></thead><tbody>
			${p.events.map((e, i) => html`<tr onClick=${() => setOpen(open === i ? null : i)} class=${open === i ? 'chosen' : ''}><td class="num">${e.id}</td><td class="num">${e.version}</td><td>${visible(e.name)}</td><td>${level(e.level)}</td><td class="mono">${visible(e.keywords)}</td><td class="num">${e.seen ? count(e.seen) : ''}</td><td title=${e.fields.map((f) => f.name).join(', ')}>${e.fields.map((f) => visible(f.name)).join(', ')}</td></tr>
				${open === i && html`<tr><td colspan="7">${e.message && html`<p>${visible(e.message)}</p>`}<dl class="about">${e.fields.map((f) => html`<dt>${visible(f.name)}</dt><dd class="dim">${visible(f.type)}</dd>`)}</dl>${e.sample && html`<pre class="pre">${visible(e.sample)}</pre>`}</td></tr>`}`)}</tbody></table></div>`}
		${p.keywords?.length > 0 && html`<h3>Keywords</h3><${DataTable} label="Keywords" columns=${[{ name: 'name', key: true }, { name: 'mask' }]} rows=${p.keywords.map((k) => [k.name, k.mask])} />`}
		${p.maps?.length > 0 && html`<h3>Maps</h3>${p.maps.map((m) => html`<details><summary>${visible(m.name)}</summary><ul>${m.values.map(([n, t]) => html`<li>${n}: ${visible(t)}</li>`)}</ul></details>`)}`}
		${p.registered?.length > 0 && html`<h3>Registered by</h3><p>${p.registered.map((r) => `${visible(r.process)} (${r.pid})`).join(', ')}</p>`}
	</div>`}<//>`;
}

// Providers of the trace, those with a manifest, and those that processes have registered now, each once.
function withRegistered(a) {
	const by = new Map(a.providers.map((p) => [p.guid.toLowerCase(), { ...p }]));
	for (const r of a.registered ?? []) {
		const guid = (String(r.guid).startsWith('{') ? r.guid : `{${r.guid}}`).toLowerCase();
		const p = by.get(guid) ?? { guid, name: r.name || guid, kind: r.kind };
		p.registered = [...(p.registered ?? []), { pid: r.pid, process: r.process }];
		by.set(guid, p);
	}
	return [...by.values()];
}

export default function Providers() {
	const q = kept('q', '');
	const [text, setText] = useState(q);
	const state = useAsk('providers', { tr: traces.value.length ? tr.value : undefined, q }, { still: true });
	const guid = kept('guid', '');
	return html`<div class="head"><h1>Providers</h1><input aria-label="Search" placeholder="Name of a provider, an event, a field" value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${(e) => {
			e.stopPropagation();
			if (e.key === 'Enter') {
				keep('q', text.trim(), false);
			}
		}} /><button onClick=${() => keep('q', text.trim(), false)}>Search</button></div>
		<div class="two"><${Asked} state=${state}>${(a) => html`<div class="card side"><p class="dim">${plural(a.providers.length, 'provider')}</p><ul class="pick">${withRegistered(a).slice(0, 2000).map((p) => html`<li><button aria-current=${p.guid === guid} onClick=${() => keep('guid', p.guid, false)}>${visible(p.name)}<br /><small class="dim">${[p.seen ? `${count(p.seen)} events` : '', p.registered?.length ? 'registered now' : '', p.installed ? 'installed' : '', p.kind].filter(Boolean).join(' · ')}</small></button></li>`)}</ul></div>`}<//>
		${guid ? html`<${Provider} key=${guid} guid=${guid} />` : html`<div class="teach"><p>Choose a provider to see its events, keywords and fields.</p></div>`}</div>`;
}
