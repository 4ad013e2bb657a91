// SPDX-License-Identifier: MIT
// The tabs below the lanes: what exactly the selected area says, or what is in view where no area is selected.
import { html } from '../ui.js';
import { info, useAsk } from '../state.js';
import { Asked } from '../widgets/asked.js';
import { DataTable } from '../widgets/table.js';
import { Tabs } from '../widgets/tabs.js';
import { Command } from '../shell/command.js';
import { count, duration, time, visible } from '../text.js';
import { ChainList, Choice, FieldChoice, FlameOf, TableOf, useFlame, WeightChoice } from './parts.js';
import { param, setParam, setParams, showPage, useSettled } from './use.js';

const tabs = [['selection', 'Selection'], ['threads', 'By thread'], ['stacks', 'Stacks'], ['events', 'Events'], ['io', 'I/O'], ['chain', 'Ready chain']];

export function AreaTabs({ sel, range, area, chain, show, reveal }) {
	const question = { ...sel, t0: Math.round(range.t0), t1: Math.round(range.t1) };
	const panel = {
		selection: () => html`<${Selection} question=${question} />`,
		threads: () => html`<${ByThread} question=${question} reveal=${reveal} />`,
		stacks: () => html`<${Stacks} question=${question} />`,
		events: () => html`<${Events} question=${question} />`,
		io: () => html`<${Io} question=${question} />`,
		chain: () => html`<${ChainList} chain=${chain} show=${show} />`,
	};
	return html`<section class="areatabs" aria-label="What the area says">
		<p class="arearange" role="status">${area ? html`<b>Area</b>` : 'In view'} ${time(range.t0, (range.t1 - range.t0) / 1000)} – ${time(range.t1, (range.t1 - range.t0) / 1000)}, <b>${duration(range.t1 - range.t0)}</b>
			${area ? html` <button class="link" onClick=${() => setParams({ a0: '', a1: '' })}>clear</button>` : html`<span class="note"> · Shift+drag selects an area</span>`}</p>
		<${Tabs} tabs=${tabs}>${(id) => panel[id]()}<//>
	</section>`;
}

// The command line of an area.
function words(question, ...more) {
	const t = (ns) => `+${ns / 1e9}s`;
	return [...more, '--from', t(question.t0), '--to', t(question.t1)];
}

function Figure({ name, value, note }) {
	return html`<div class="figure"><dt>${name}</dt><dd>${value}</dd>${note && html`<dd class="note">${note}</dd>`}</div>`;
}
function figure(n) {
	return n === null || n === undefined ? '–' : Number.isInteger(n) ? count(n) : n.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}

function Selection({ question }) {
	const field = param('field');
	const state = useAsk('area', useSettled({ ...question, field }));
	const seconds = (question.t1 - question.t0) / 1e9;
	return html`<div class="timetools">
			<${FieldChoice} sel=${question} value=${field} set=${(v) => setParam('field', v)} label="Numbers of" first="no field" />
			<span class="grow"></span><${Command} words=${words(question, 'report', '--table', 'events')} where=${false} />
		</div>
		<${Asked} state=${state}>${(a) => html`<dl class=${`figures ${state.loading ? 'busy' : ''}`}>
				<${Figure} name="Events" value=${count(a.count)} note=${seconds > 0 && `${count(a.count / seconds)} a second`} />
				${info.value?.has.switches > 0 && html`<${Figure} name="Ran" value=${duration(a.running)} note=${seconds > 0 && `${(a.running / 1e9 / seconds).toFixed(2)} processors`} />
				<${Figure} name="Ready" value=${duration(a.ready)} note="could run, did not" />
				<${Figure} name="Waited" value=${duration(a.waiting)} note=${`${count(a.rows.length)} threads`} />`}
			</dl>
			${field && (a.field?.values ? html`<h3>${visible(field)}</h3><dl class="figures">
				<${Figure} name="Count" value=${count(a.field.values)} /><${Figure} name="Sum" value=${figure(a.field.sum)} /><${Figure} name="Min" value=${figure(a.field.min)} />
				<${Figure} name="Avg" value=${figure(a.field.avg)} /><${Figure} name="Max" value=${figure(a.field.max)} /><${Figure} name="P99" value=${figure(a.field.p99)} />
			</dl>` : html`<p class="note">No event here has numbers in ${visible(field)}.</p>`)}`}<//>`;
}

const measures = [['running', 'time it ran'], ['ready', 'time it was ready'], ['waiting', 'time it waited']];

function ByThread({ question, reveal }) {
	const measure = param('of') || 'running';
	const field = measure.startsWith('field:') ? measure.slice(6) : '';
	const numbers = `count,sum(${measure}),min(${measure}),avg(${measure}),max(${measure}),p99(${measure})`;
	const titles = { process_name: 'Process', tid: 'Tid', thread: 'Lane', count: 'Count' };
	for (const f of ['sum', 'min', 'avg', 'max', 'p99']) {
		titles[`${f}(${measure})`] = f[0].toUpperCase() + f.slice(1);
	}
	return html`<div class="timetools">
			<${Choice} label="Of each run" value=${field ? '' : measure} options=${field ? [['', '–'], ...measures] : measures} set=${(v) => v && setParam('of', v)} />
			<${FieldChoice} sel=${question} value=${field} set=${(v) => setParam('of', v ? `field:${v}` : '')} label="or of each event" first="–" />
			<span class="grow"></span>
			<${Command} words=${field ? words(question, 'report', '--table', 'events', '--group-by', 'process_name,tid', '--columns', 'count') : words(question, 'report', '--table', 'cpu', '--group-by', 'process_name,tid,thread', '--columns', numbers, '--filter', 'pid != 0')} where=${false} />
		</div>
		${field ? html`<${FieldByThread} question=${question} field=${field} />`
			: html`<${TableOf} label="By thread" titles=${titles} share=${`sum(${measure})`} params=${{ tr: question.tr, t0: question.t0, t1: question.t1, name: 'cpu', where: 'pid != 0', group_by: 'process_name,tid,thread', columns: numbers, sort: `sum(${measure})`, top: 1000 }}
				onRow=${(row) => reveal(row[2])} />`}`;
}

function FieldByThread({ question, field }) {
	const state = useAsk('group', useSettled({ ...question, by: 'thread', field, top: 1000 }));
	const columns = ['thread', 'count', 'values', 'sum', 'min', 'avg', 'max', 'p99'].map((name, i) => ({ name: i ? name : 'name', title: name[0].toUpperCase() + name.slice(1), number: i > 0, key: i === 0, unit: 'none' }));
	return html`<${Asked} state=${state}>${(a) => html`<${DataTable} columns=${columns} share=${3} label=${`${field} by thread`}
		rows=${a.rows.map((r) => [r.text, r.count, r.values, r.sum, r.min, r.avg, r.max, r.p99])} />`}<//>`;
}

function Stacks({ question }) {
	const weight = param('weight') || 'samples';
	const [state, set] = useFlame(param, setParams);
	return html`<${FlameOf} question=${{ ...question, weight }} state=${state} set=${set} label="this area">
		<${WeightChoice} sel=${question} value=${weight} kinds=${[['samples', 'CPU samples'], ['blocked', 'time blocked'], ['events', 'events']]} set=${(v) => setParam('weight', v)} />
	<//>`;
}

function Events({ question }) {
	const state = useAsk('rows', useSettled({ ...question, at: 0, n: 200 }));
	const columns = [['time', 'Time', 'time'], ['cpu', 'CPU'], ['process_name', 'Process'], ['pid', 'Pid'], ['tid', 'Tid'], ['event', 'Event'], ['text', 'Message']].map(([name, title, unit], i) => ({ name, title, unit: unit ?? 'none', number: i < 5 && i !== 2, key: false }));
	return html`<${Asked} state=${state}>${(a) => html`<div class="timetools"><button onClick=${() => showPage('events', { t0: question.t0, t1: question.t1 })}>${a.total === null ? 'All' : `All ${count(a.total)}`} in Events</button>
			<span class="note">The first ${count(a.rows.length)}</span></div>
		<${DataTable} columns=${columns} rows=${a.rows.map((r) => [r[1], r[2], r[3], r[4], r[5], r[6], r[8]])} share=${-1} label="First events" />`}<//>`;
}

function Io({ question }) {
	const kind = param('io') || 'io';
	return html`<div class="timetools"><${Choice} label="Of" value=${kind} options=${[['io', 'disks and files'], ['net', 'network'], ['faults', 'page faults'], ['syscalls', 'system calls']]} set=${(v) => setParam('io', v)} />
			<span class="grow"></span><${Command} words=${words(question, 'report', '--table', kind)} where=${false} /></div>
		<${TableOf} label="I/O" params=${{ tr: question.tr, t0: question.t0, t1: question.t1, name: kind, top: 500 }} />`;
}
