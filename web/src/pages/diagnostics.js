// SPDX-License-Identifier: MIT
// Can this trace be trusted?
import { html, useState } from '../ui.js';
import { info, selection, useAsk, go, toast, tick } from '../state.js';
import { post } from '../api.js';
import { DataTable } from '../widgets/table.js';
import { Asked } from '../widgets/asked.js';
import { Density } from '../widgets/density.js';
import { Command } from '../shell/command.js';
import { count, visible, plural } from '../text.js';

async function drop(e) {
	e.preventDefault();
	for (const file of e.dataTransfer?.files ?? e.target.files ?? []) {
		try {
			const a = await post('manifest', { tr: selection.value.tr, name: file.name, text: await file.text() });
			toast(`${file.name}: ${plural(a.providers, 'provider')} learnt`, 'info');
			tick.value += 1;
		} catch (x) {
			toast(`${file.name}: ${x.message}`);
		}
	}
}

// Names of functions: which modules have them, whence, and why others have none.
function Symbols() {
	const [folder, setFolder] = useState('');
	const [again, setAgain] = useState(0);
	const state = useAsk('symbols', { tr: selection.value.tr }, { still: true, again });
	const look = async (body) => {
		try {
			await post('symbols', body);
			setAgain(again + 1);
			tick.value += 1;
		} catch (e) {
			toast(e.message);
		}
	};
	return html`<section class="card symbols"><h2>Symbols</h2><${Asked} state=${state}>${(s) => {
		const used = s.modules.filter((m) => m.addresses > 0);
		return html`<p>${s.modules.length === 0 ? 'The trace names no modules.' : `symbols: ${count(used.filter((m) => m.named > 0).length)} of ${plural(used.length, 'module')} that call stacks go through`}</p>
			${used.length > 0 && html`<${DataTable} label="Modules" columns=${[{ name: 'module', key: true }, { name: 'addresses', number: true, unit: 'none' }, { name: 'with a name', number: true, unit: 'none' }, { name: 'names from' }, { name: 'build' }]} rows=${used.map((m) => [m.name, m.addresses, m.named, m.file ?? (m.named > 0 ? 'the trace itself' : m.why), m.build])} />`}
			<p class="note">Looked for in: ${s.searched}.${s.folders.length > 0 ? ` Folders: ${s.folders.map(visible).join(', ')}.` : ''} ${s.servers_why}</p>
			<p class="buttonrow"><input class="wideinput" aria-label="A folder of symbols" placeholder="A folder of symbols, below --root" value=${folder} onInput=${(e) => setFolder(e.target.value)} onKeyDown=${(e) => e.stopPropagation()} /><button onClick=${() => look({ folder: folder.trim() })} disabled=${!folder.trim()}>Look there, too</button><button onClick=${() => look({})}>Look again</button></p>`;
	}}<//></section>`;
}

export default function Diagnostics() {
	const i = info.value;
	const state = useAsk('diag', { tr: selection.value.tr });
	return html`<div class="head"><h1 class=${i.light === 'red' ? 'bad' : i.light === 'yellow' ? 'warn' : 'good'}>${i.light_sentence}</h1><span class="grow"></span><${Command} words=${['info']} where=${false} /></div>
		<p>${i.lost_sentence}</p>
		${(i.lost.events > 0 || i.lost.buffers > 0) && html`<${Density} height=${90} />`}
		<${Asked} state=${state}>${(d) => html`
			${d.lost.length > 0 && html`<h2>Where events are missing</h2><${DataTable} label="Losses" columns=${[{ name: 'from', number: true, unit: 'time', key: true }, { name: 'to', number: true, unit: 'time', key: true }, { name: 'cpu', unit: 'none' }, { name: 'count', number: true, unit: 'none' }, { name: 'reason' }]} rows=${d.lost.map((l) => [l.t0, l.t1, l.cpu < 0 ? null : l.cpu, l.count < 0 ? null : l.count, l.reason])} />`}
			<section class="card" onDragOver=${(e) => e.preventDefault()} onDrop=${drop}><h2>Events that nobody can decode</h2>
				${d.undecoded.length === 0 ? html`<p class="good">Every type of event can be decoded.</p>` : html`<${DataTable} label="Not decoded" columns=${[{ name: 'provider', key: true }, { name: 'event', key: true }, { name: 'events', number: true, unit: 'none' }, { name: 'why' }]} rows=${d.undecoded.map((u) => [u.provider, u.event, u.count, u.reason])} onRow=${(row) => go({ page: 'events', f: d.undecoded.find((u) => u.provider === row[0] && u.event === row[1])?.filter ?? '' })} />`}
				<p class="note">Drop a manifest (.man) or formats of WPP (.tmf) here, or <label class="button">choose files <input type="file" multiple accept=".man,.xml,.tmf,.mc" class="hiddenfile" onChange=${drop} /></label></p></section>
			<${Symbols} />
			<h2>The files</h2>
			${d.damage?.length > 0 && html`<pre class="pre bad">${d.damage.map(visible).join('\n')}</pre>`}
			<pre class="pre">${(d.about ?? []).map(visible).join('\n')}</pre>
			<${DataTable} label="Recording" sortable=${false} columns=${[{ name: 'property', key: true }, { name: 'value' }]} rows=${d.session ?? []} />
			<p class="note">${count(d.stacks_without_event)} call stacks belong to no event of the trace.</p>`}<//>`;
}
