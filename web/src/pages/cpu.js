// SPDX-License-Identifier: MIT
// CPU: who burned it. Sampled (flame graph, functions with callers and callees, modules), precise (what each switch says), interrupts.
import { html, useState } from '../ui.js';
import { info, selection, useAsk } from '../state.js';
import { Asked } from '../widgets/asked.js';
import { DataTable } from '../widgets/table.js';
import { Tabs } from '../widgets/tabs.js';
import { Command } from '../shell/command.js';
import { Teach } from '../shell/shell.js';
import { count, visible } from '../text.js';
import { amount, Choice, FlameOf, linkOf, TableOf, useFlame, WeightChoice } from './parts.js';
import { param, setParam, setParams, showPage, useSettled } from './use.js';

export default function Cpu() {
	return html`<div class="stretch">
		<div class="head"><h1>CPU</h1></div>
		<${Tabs} tabs=${[['sampled', 'Sampled'], ['precise', 'Precise'], ['interrupts', 'Interrupts']]}>${(id) => (id === 'sampled' ? html`<${Sampled} />` : id === 'precise' ? html`<${Precise} />` : html`<${Interrupts} />`)}<//>
	</div>`;
}

/* ---- sampled ---- */

const views = [['flame', 'Flame graph'], ['functions', 'Functions'], ['modules', 'Modules']];

function Sampled() {
	const sel = selection.value, has = info.value.has;
	const view = param('view') || 'flame', weight = param('weight') || 'samples', thread = param('thread');
	const [state, set] = useFlame(param, setParams);
	const threads = useAsk('threads', { tr: sel.tr, top: 300 });
	if (!has.samples && !has.stacks) {
		return html`<${Teach} text="No CPU samples were recorded. With them this page shows which functions used the processors: \`openetw record --cpu --stacks\`." />`;
	}
	const question = { ...sel, weight, thread };
	const threadChoice = html`<${Choice} label="Thread" value=${thread} set=${(v) => setParam('thread', v)}
			options=${[['', 'all'], ...(threads.data?.threads ?? []).map((t) => [String(t.thread), visible(`${t.process_name || 'process'} ${t.name && t.name !== t.process_name ? `${t.name} ` : ''}${t.tid}`)])]} />
		<${WeightChoice} sel=${sel} value=${weight} kinds=${[['samples', 'CPU samples'], ['events', 'events']]} set=${(v) => setParam('weight', v)} />`;
	return html`<div class="timetools">
			<div class="segments" role="group" aria-label="Show samples as">${views.map(([id, title]) => html`<button aria-pressed=${id === view} onClick=${() => setParam('view', id)}>${title}</button>`)}</div>
			<${Symbols} tr=${sel.tr} />
			<span class="grow"></span><${Command} words=${['report', '--table', 'samples', '--group-by', view === 'modules' ? 'module' : 'function']} />
		</div>
		${view === 'flame' ? html`<${FlameOf} question=${question} state=${state} set=${set} label="CPU samples">${threadChoice}<//>` : html`<${Functions} key=${view} question=${{ ...question, by: view === 'modules' ? 'module' : undefined }}>${threadChoice}<//>`}`;
}

const functionColumns = (unit, all) => [
	{ name: 'function', title: 'Function', key: true }, { name: 'module', title: 'Module', key: true },
	...(all ? [{ name: 'self', title: 'Self', number: true, unit }, { name: 'self_share', title: 'Self %', number: true, unit: 'none' }] : []),
	{ name: 'total', title: 'Total', number: true, unit }, { name: 'total_share', title: 'Total %', number: true, unit: 'none' },
];

function Functions({ question, children }) {
	const of = param('fn'), modules = question.by === 'module';
	const [find, setFind] = useState('');
	const state = useAsk('functions', useSettled({ ...question, of, max: 2000 }));
	return html`<div class="timetools"><label>Find <input type="search" value=${find} onInput=${(e) => setFind(e.target.value)} onKeyDown=${(e) => e.stopPropagation()} /></label>${children}
			${state.data && html`<span class="note">${amount(state.data.unit, state.data.total)} in all</span>`}</div>
		<${Asked} state=${state}>${(a) => {
			const unit = a.unit === 'ns' ? 'duration' : 'none';
			const share = (n) => (a.total ? Math.round((1e4 * n) / a.total) / 100 : 0);
			const frame = (r) => r[r.length - 1];
			const row = (f, all) => [f.name, f.module ?? '', ...(all ? [f.self, share(f.self)] : []), f.total, share(f.total), f.frame ?? (f.module ? `${f.module}!${f.name}` : f.name)];
			const wanted = find.toLowerCase();
			const rows = a.functions.map((f) => row(f, true)).filter((r) => !wanted || frame(r).toLowerCase().includes(wanted));
			const pick = (r) => setParam('fn', frame(r) === of ? '' : frame(r));
			const side = (title, list) => html`<h3>${title}</h3><${DataTable} columns=${functionColumns(unit, false)} share=${2} rows=${list.map((f) => row(f, false))} onRow=${pick} render=${linkOf(pick)} label=${title} />`;
			return html`<div class=${`beside ${of ? 'two' : ''} ${state.loading ? 'busy' : ''}`}>
				<div class="stretch"><${DataTable} columns=${functionColumns(unit, true).map((c, i) => (modules && i === 0 ? { ...c, title: 'Module' } : c))} share=${2} rows=${rows} all=${wanted ? rows.length : a.all} onRow=${pick} render=${linkOf(pick)} chosen=${(r) => frame(r) === of} label=${modules ? 'Modules' : 'Functions'} /></div>
				${of && html`<aside class="beside-side" aria-label="Callers and callees"><h2>${visible(of)}</h2>${side('Called by', a.callers ?? [])}${side('Calls', a.callees ?? [])}</aside>`}
			</div>`;
		}}<//>`;
}

// How many modules have names, and where names come from.
function Symbols({ tr }) {
	const [open, setOpen] = useState(false);
	const state = useAsk('symbols', { tr }, { still: true });
	const modules = (state.data?.modules ?? []).filter((m) => m.addresses > 0);
	const without = modules.filter((m) => m.named === 0);
	if (!modules.length) {
		return null;
	}
	return html`<div class="symbols"><button aria-expanded=${open} onClick=${() => setOpen(!open)}>Symbols: ${modules.length - without.length} of ${count(modules.length)} modules</button>
		${open && html`<div class="symbolbox" role="region" aria-label="Symbols">
			<p>Names come from the trace itself, from files of this machine that are of the same build, and from their debug information below <code>/usr/lib/debug</code>. Diagnostics looks again, and into folders of yours.</p>
			${without.length > 0 && html`<p>Modules without names:</p><ul>${without.slice(0, 30).map((m) => html`<li><b>${visible(m.name)}</b> ${m.why ? visible(m.why) : `${count(m.addresses)} addresses`}</li>`)}</ul>`}
			<button class="link" onClick=${() => showPage('diagnostics')}>All modules</button>
		</div>`}</div>`;
}

/* ---- precise ---- */

const groups = [['process_name,tid,thread', 'thread'], ['process_name,pid', 'process'], ['cpu', 'CPU'], ['reason', 'what it had waited for'], ['', 'each run']];
const sums = 'count,sum(running),avg(running),p99(running),max(running),sum(ready),max(ready),sum(waiting)';
const each = 'start,cpu,process_name,tid,thread,running,ready,waiting,reason,waker_process_name,waker_tid';
const preciseTitles = {
	process_name: 'Process', tid: 'Tid', thread: 'Lane', cpu: 'CPU', count: 'Runs', 'sum(running)': 'Ran', 'avg(running)': 'Mean run', 'p99(running)': 'P99 run', 'max(running)': 'Longest run', 'sum(ready)': 'Ready',
	'max(ready)': 'Longest ready', 'sum(waiting)': 'Waited', start: 'Began', running: 'Ran', ready: 'Ready before', waiting: 'Waited before', reason: 'For', waker_process_name: 'Woken by', waker_tid: 'Its tid',
};

function Precise() {
	const sel = selection.value;
	const by = param('group') === 'each' ? '' : param('group') || groups[0][0];
	if (!info.value.has.switches) {
		return html`<${Teach} text="No context switches were recorded. With them this page says when each thread ran, was ready and waited: \`openetw record --wait\`." />`;
	}
	const params = { tr: sel.tr, t0: sel.t0, t1: sel.t1, name: 'cpu', top: 2000, ...(by ? { group_by: by, columns: sums, sort: 'sum(running)' } : { columns: each, sort: 'running' }) };
	return html`<div class="timetools"><${Choice} label="By" value=${by || 'each'} options=${groups.map(([id, title]) => [id || 'each', title])} set=${(v) => setParam('group', v)} />
			<span class="note">A run ends where another thread gets the processor. Click one to see its lane.</span>
			<span class="grow"></span><${Command} words=${['report', '--table', 'cpu', ...(by ? ['--group-by', by, '--columns', sums] : ['--columns', each, '--sort', 'running'])]} /></div>
		<${TableOf} params=${params} label="Runs of threads" titles=${preciseTitles} share=${by ? 'sum(running)' : 'running'} onRow=${(row, columns) => {
			const at = (name) => row[columns.findIndex((c) => c.name === name)];
			const start = at('start'), long = at('running') ?? 0;
			if (at('thread') !== undefined) {
				showPage('timeline', start === undefined ? {} : { t0: Math.max(0, Math.round(start - long - 1e5)), t1: Math.round(start + 2 * long + 1e5) }, { pin: `t:${at('thread')}` });
			}
		}} />`;
}

/* ---- interrupts ---- */

function Interrupts() {
	const sel = selection.value;
	const by = param('igroup') || 'kind,module,function';
	if (!info.value.has.dpc) {
		return html`<${Teach} text="No interrupts were recorded: \`openetw record --interrupts\` records them." />`;
	}
	const columns = 'count,sum(duration),p50(duration),p99(duration),max(duration)';
	return html`<div class="timetools"><${Choice} label="By" value=${by} options=${[['kind,module,function', 'function'], ['kind,module', 'module'], ['kind,cpu', 'CPU']]} set=${(v) => setParam('igroup', v)} />
			<span class="grow"></span><${Command} words=${['report', '--table', 'dpc_isr', '--group-by', by, '--columns', columns]} /></div>
		<${TableOf} params=${{ tr: sel.tr, t0: sel.t0, t1: sel.t1, name: 'dpc_isr', group_by: by, columns, sort: 'sum(duration)', top: 1000 }} label="Interrupts and DPCs" share="sum(duration)"
			titles=${{ kind: 'Kind', module: 'Module', function: 'Function', cpu: 'CPU', count: 'Count', 'sum(duration)': 'Total', 'p50(duration)': 'P50', 'p99(duration)': 'P99', 'max(duration)': 'Longest' }} />`;
}
