// SPDX-License-Identifier: MIT
// Waits: who did not run, for what, and who ended it. Sums, the longest single waits with the chain of their wakers, and a flame graph
// of the time that threads were blocked.
import { html, useState } from '../ui.js';
import { get } from '../api.js';
import { selection } from '../state.js';
import { Tabs } from '../widgets/tabs.js';
import { Command } from '../shell/command.js';
import { visible } from '../text.js';
import { ChainList, Choice, FlameOf, reasonWords, TableOf, useFlame } from './parts.js';
import { param, setParam, setParams, showPage } from './use.js';

const tabs = [['sums', 'Who waited'], ['longest', 'Longest waits'], ['flame', 'Off-CPU flame graph']];
const groups = [['process_name,tid,thread', 'thread'], ['process_name,pid', 'process'], ['reason', 'reason'], ['waker_process_name,waker_tid', 'waker'], ['process_name,waker_process_name', 'process and waker']];
const titles = {
	process_name: 'Process', pid: 'Pid', tid: 'Tid', thread: 'Lane', reason: 'For', waker_process_name: 'Woken by', waker_tid: 'Its tid', woken_by: 'Woken by', count: 'Waits', 'sum(duration)': 'Waited',
	'p50(duration)': 'P50', 'p99(duration)': 'P99', 'max(duration)': 'Longest', start: 'Began', duration: 'Waited',
};
const numbers = 'count,sum(duration),p50(duration),p99(duration),max(duration)';
const each = 'start,duration,process_name,tid,thread,reason,woken_by,waker_process_name,waker_tid';

function whereOf() {
	return [param('all') !== '1' && 'kind == wait', param('of') && `thread == ${param('of')}`].filter(Boolean).join(' and ');
}

function Kinds() {
	return html`<label><input type="checkbox" checked=${param('all') === '1'} onChange=${(e) => setParam('all', e.target.checked ? '1' : '')} /> also where another thread took the processor</label>`;
}

export default function Waits() {
	return html`<div class="stretch">
		<div class="head"><h1>Waits</h1></div>
		<${Tabs} tabs=${tabs}>${(id) => (id === 'sums' ? html`<${Sums} />` : id === 'longest' ? html`<${Longest} />` : html`<${OffCpu} />`)}<//>
	</div>`;
}

function Sums() {
	const sel = selection.value, by = param('group') || groups[0][0];
	const where = param('all') !== '1' ? 'kind == wait' : '';
	return html`<div class="timetools"><${Choice} label="By" value=${by} options=${groups} set=${(v) => setParam('group', v)} /><${Kinds} />
			<span class="grow"></span><${Command} words=${['report', '--table', 'waits', '--group-by', by, '--columns', numbers, ...(where ? ['--filter', where] : [])]} /></div>
		<${TableOf} params=${{ tr: sel.tr, t0: sel.t0, t1: sel.t1, name: 'waits', where, group_by: by, columns: numbers, sort: 'sum(duration)', top: 2000 }} label="Who waited" titles=${titles} share="sum(duration)"
			onRow=${(row, columns) => {
				const at = columns.findIndex((c) => c.name === 'thread');
				if (at >= 0) {
					setParams({ of: row[at], tab: 'longest' });
				}
			}} />`;
}

function Longest() {
	const sel = selection.value, where = whereOf();
	const [picked, setPicked] = useState(null);
	const [chain, setChain] = useState(null);
	const pick = (row) => {
		setPicked(row);
		get('chain', { tr: sel.tr, thread: row[4], t: Math.round(row[0] + row[1] / 2) }).then(setChain, (e) => setChain({ problem: e.message }));
	};
	const show = (link) => {
		const to = link.to ?? link.ready ?? link.from, margin = (to - link.from) * 0.3 + 1000;
		showPage('timeline', { t0: Math.max(0, Math.round(link.from - margin)), t1: Math.round(to + margin) }, {
			pin: [link.thread, link.waker_thread].filter(Boolean).map((t) => `t:${t}`).join(','), tab: 'chain', chain: `${link.thread}@${Math.round(link.from)}`,
		});
	};
	return html`<div class="timetools">${param('of') && html`<button onClick=${() => setParam('of', '')}>All threads</button>`}<${Kinds} />
			<span class="grow"></span><${Command} words=${['report', '--table', 'waits', '--columns', each, '--sort', 'duration', ...(where ? ['--filter', where] : [])]} /></div>
		<div class="beside two">
			<div class="stretch"><${TableOf} params=${{ tr: sel.tr, t0: sel.t0, t1: sel.t1, name: 'waits', where, columns: each, sort: 'duration', top: 500 }} label="Longest waits" titles=${titles} share="duration"
				onRow=${pick} chosen=${(r) => picked && r[0] === picked[0] && r[4] === picked[4]} /></div>
			<aside class="beside-side" aria-label="Why it waited"><h2>${picked ? `${visible(picked[2] ?? '')} ${picked[3]} waited for ${reasonWords(picked[5])}` : 'Why?'}</h2><${ChainList} chain=${chain} show=${show} /></aside>
		</div>`;
}

function OffCpu() {
	const [state, set] = useFlame(param, setParams);
	return html`<${FlameOf} question=${{ ...selection.value, weight: 'blocked' }} state=${state} set=${set} label="blocked time">
		<${Command} words=${['report', '--off-cpu', '--folded', 'waits.folded']} /><//>`;
}
