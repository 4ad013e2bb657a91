// SPDX-License-Identifier: MIT
// What processes of this machine do, as it happens: the same list as Events, over a session that this page starts.
import { html, useState } from '../ui.js';
import { go, info, traces, askTraces, toast, tr } from '../state.js';
import { post } from '../api.js';
import { visible } from '../text.js';

const kinds = [['process', 'Processes and threads'], ['file', 'Files'], ['network', 'Network'], ['image', 'Modules']];

export default function Live() {
	const [chosen, setChosen] = useState(['process', 'file', 'network']);
	const [process, setProcess] = useState('');
	const [busy, setBusy] = useState(false);
	const running = traces.value.filter((t) => t.live);
	const start = async () => {
		setBusy(true);
		try {
			const a = await post('live', { kinds: chosen });
			await askTraces();
			go({ page: 'events', tr: a.tr, t0: null, t1: null, f: process ? `process == "${process.replace(/"/g, '')}"` : '', extra: { preset: 'where' } });
		} catch (e) {
			toast(e.message);
		}
		setBusy(false);
	};
	const stop = async (id) => {
		try {
			await post('close', { tr: id });
			await askTraces();
			if (id === tr.value) {
				info.value = null;
				go({ tr: traces.value[0]?.tr ?? 0 });
			}
		} catch (e) {
			toast(e.message);
		}
	};
	return html`<h1>Live machine</h1><div class="homegrid">
		<section class="card"><h2>Watch what processes do</h2>
			<p>${kinds.map(([id, title]) => html`<label><input type="checkbox" checked=${chosen.includes(id)} onChange=${(e) => setChosen(e.target.checked ? [...chosen, id] : chosen.filter((x) => x !== id))} /> ${title}</label> `)}</p>
			<p><label>Only the process <input placeholder="all" value=${process} onInput=${(e) => setProcess(e.target.value)} onKeyDown=${(e) => e.stopPropagation()} /></label></p>
			<p><button class="main-button" disabled=${busy || chosen.length === 0} onClick=${start}>Watch</button></p>
			<p class="note">Root sees every process, others see their own. Right-click leaves out what is not wanted; what was lost is always counted above the list.</p></section>
		${running.length > 0 && html`<section class="card"><h2>Watched now</h2><ul class="pick">${running.map((t) => html`<li class="head"><button onClick=${() => go({ page: 'events', tr: t.tr, f: '' })}>${visible(t.name)}</button><button onClick=${() => stop(t.tr)}>Stop</button></li>`)}</ul></section>`}
	</div>`;
}
