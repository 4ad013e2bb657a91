// SPDX-License-Identifier: MIT
// What processes of this machine do, as it happens: a tree of processes, and what they did, one operation a line.
import { html, useEffect, useState } from '../ui.js';
import { go, info, traces, askTraces, toast, tr, kept } from '../state.js';
import { post } from '../api.js';
import { count, plural, visible } from '../text.js';
import { Tabs } from '../widgets/tabs.js';
import { Operations } from './live_ops.js';
import { Processes } from './live_processes.js';
import { Rules } from './live_rules.js';
import { Source } from './live_source.js';

const kinds = [['file', 'Files'], ['network', 'Network'], ['image', 'Modules'], ['memory', 'Page faults']];
const tabs = [['all', 'Everything'], ['processes', 'Processes'], ['file', 'Files'], ['network', 'Network'], ['image', 'Modules'], ['memory', 'Memory'], ['starts', 'Starts and ends'], ['rules', 'Rules']];

function Start() {
	const [chosen, setChosen] = useState(['file', 'network', 'image']);
	const [stacks, setStacks] = useState(false);
	const [providers, setProviders] = useState('');
	const [busy, setBusy] = useState(false);
	const start = async (named) => {
		setBusy(true);
		try {
			const a = await post('live', named ? { providers: named, stacks } : { kinds: chosen, stacks });
			await askTraces();
			go({ page: named ? 'events' : 'live', tr: a.tr, t0: null, t1: null, f: '', extra: {} });
		} catch (e) {
			toast(e.message);
		}
		setBusy(false);
	};
	return html`<section class="card"><h2>Watch what processes do</h2>
		<p><label><input type="checkbox" checked disabled /> Processes</label> ${kinds.map(([id, title]) => html`<label><input type="checkbox" checked=${chosen.includes(id)} onChange=${(e) => setChosen(e.target.checked ? [...chosen, id] : chosen.filter((x) => x !== id))} /> ${title}</label> `)} <label><input type="checkbox" checked=${stacks} onChange=${(e) => setStacks(e.target.checked)} /> Call stacks</label></p>
		<p><button class="main-button" disabled=${busy} onClick=${() => start(null)}>Watch</button></p>
		<p class="note">Root sees every process, others see their own. Call stacks and page faults cost the machine most. What was lost is always counted above the list.</p>
		<p><label>Or providers of applications <input class="mono wideinput" placeholder="MyCompany.Web, MyCompany.Db" value=${providers} onInput=${(e) => setProviders(e.target.value)} onKeyDown=${(e) => e.stopPropagation()} /></label> <button disabled=${busy || !providers.trim()} onClick=${() => start(providers.split(/[,\s]+/).filter(Boolean))}>Watch these</button></p></section>`;
}

async function stop(id) {
	try {
		await post('close', { tr: id });
		await askTraces();
		if (id === tr.value) {
			info.value = null;
			go({ page: 'live', tr: traces.value.find((t) => t.live)?.tr ?? traces.value[0]?.tr ?? 0, extra: {} });
		}
	} catch (e) {
		toast(e.message);
	}
}

function Watched() {
	const running = traces.value.filter((t) => t.live);
	return running.length > 0 && html`<section class="card"><h2>Watched now</h2><ul class="pick">${running.map((t) => html`<li class="head"><button onClick=${() => go({ page: 'live', tr: t.tr, t0: null, t1: null, f: '', extra: {} })}>${visible(t.name)}</button><button onClick=${() => stop(t.tr)}>Stop</button></li>`)}</ul></section>`;
}

// Who is slow, and what is missing because of it.
function Health() {
	const s = info.value?.live_state ?? {};
	const by = s.lost_by ?? {};
	const words = [
		s.ended && 'The session has ended; what was there stays.',
		by.session > 0 && `${plural(by.session, 'event')} lost by the session (its buffers were full).`,
		by.viewer > 0 && `${plural(by.viewer, 'event')} that this viewer had no memory for.`,
		s.ops_not_kept > 0 && `${plural(s.ops_not_kept, 'operation')} not kept, for want of memory.`,
		s.lag_ms > 2000 && !s.ended && `This viewer is ${count(s.lag_ms / 1000)} s behind: it is the slow consumer. Watch fewer kinds or processes (“at the source”).`,
	].filter(Boolean);
	return words.length > 0 && html`<p class=${`livehealth ${s.ended ? '' : 'warn'}`} role="status">${words.join(' ')}</p>`;
}

export default function Live() {
	const here = traces.value.find((t) => t.tr === tr.value);
	const machine = here?.live && info.value?.tr === tr.value && info.value.live_state?.machine;
	const [other, setOther] = useState(false);
	useEffect(() => setOther(false), [tr.value]);
	/* A session that is followed already is what one wants to see. */
	useEffect(() => {
		const live = traces.value.find((t) => t.live);
		if (!here?.live && live && !kept('new')) {
			go({ tr: live.tr, t0: null, t1: null, f: '' }, true);
		}
	}, []);
	if (!machine || other) {
		return html`<h1>Live machine</h1><div class="homegrid"><${Start} /><${Watched} />
			${here?.live && !machine && info.value && html`<p class="note">${visible(here.name)} has no events of the kernel: <button onClick=${() => go({ page: 'events' })}>see its events</button></p><${Health} /><${Rules} />`}</div>`;
	}
	return html`<div class="livepage">
		<${Health} />
		<${Tabs} tabs=${tabs}>${(id) => (id === 'processes' ? html`<${Processes} />` : id === 'rules' ? html`<${Rules} />` : html`<${Operations} key=${id} kinds=${id === 'all' ? '' : id === 'starts' ? 'process' : id}>
			<${Source} filter=${kept('of', '')} /><button onClick=${() => stop(tr.value)}>Stop</button> <button onClick=${() => setOther(true)}>More …</button><//>`)}<//>
	</div>`;
}
