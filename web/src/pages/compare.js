// SPDX-License-Identifier: MIT
// Two traces, or two times of one, beside each other.
import { html, useMemo, useState } from '../ui.js';
import { traces, tr, range, kept, keep, useAsk, askTraces, toast, info } from '../state.js';
import { post } from '../api.js';
import { Curves } from '../widgets/curves.js';
import { DataTable } from '../widgets/table.js';
import { Asked } from '../widgets/asked.js';
import { Command } from '../shell/command.js';
import { cell, visible, time, plural } from '../text.js';
import { Choice, FlameOf, useFlame } from './parts.js';
import { setParams } from './use.js';

const tables = [['cpu', 'process_name'], ['samples', 'module,function'], ['waits', 'process_name,reason'], ['io', 'layer,operation,process_name'], ['net', 'process_name,remote'], ['faults', 'process_name,kind'], ['syscalls', 'process_name,call'], ['spans', 'provider,name'], ['gc', 'process_name,generation'], ['events', 'provider,event'], ['stacks', '']];

function Pick({ which }) {
	const [path, setPath] = useState('');
	const open = async () => {
		try {
			const a = await post('open', { paths: [path] });
			await askTraces();
			keep(which, a.tr, false);
		} catch (e) {
			toast(e.message);
		}
	};
	const id = Number(kept(which, which === 'a' ? tr.value : traces.value.find((t) => t.tr !== tr.value)?.tr ?? tr.value));
	return html`<fieldset class="card"><legend>${which === 'a' ? 'Base' : 'New'}</legend>
		<label>Trace <select value=${id} onChange=${(e) => keep(which, e.target.value, false)}>${traces.value.map((t) => html`<option value=${t.tr} selected=${t.tr === id}>${visible(t.name)}</option>`)}</select></label>
		<label>Times <input class="mono" placeholder="all, or 1.5-2.5" value=${kept(`${which}t`, '')} onKeyDown=${(e) => e.stopPropagation()} onChange=${(e) => keep(`${which}t`, e.target.value, false)} /></label>
		<button onClick=${() => keep(`${which}t`, `${range.value.t0 / 1e9}-${range.value.t1 / 1e9}`, false)} title=${`${time(range.value.t0, 1e6)} – ${time(range.value.t1, 1e6)}`}>the present selection</button>
		<label>Open <input placeholder="/path/trace.etl" value=${path} onInput=${(e) => setPath(e.target.value)} onKeyDown=${(e) => {
			e.stopPropagation();
			if (e.key === 'Enter') {
				open();
			}
		}} /></label></fieldset>`;
}

// Of tables that have them: what the distribution is of.
const spread = { cpu: 'running', waits: 'duration', io: 'duration', syscalls: 'duration', spans: 'duration', gc: 'pause', net: 'bytes', faults: 'bytes' };
const percents = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99];

function Distribution({ name, question }) {
	const of = spread[name], state = useAsk('compare', { ...question, name, group_by: '', columns: percents.map((p) => `p${p}(${of})`).join(',') });
	const d = state.data;
	const side = (title, rows) => ({ name: title, points: percents.map((p, i) => [p, rows?.[i]]).filter(([, v]) => typeof v === 'number') });
	return d ? html`<${Curves} label=${`${of}, each of ${name}`} unit=${d.columns[0]?.unit} sides=${[side('base', Object.values(d.a)[0]), side('new', Object.values(d.b)[0])].filter((s) => s.points.length)} />` : null;
}

// How many events of each side one is counted against: "per request".
function useCounts(wanted, sides, f) {
	const ask = (s) => useAsk(wanted && f ? 'facets' : null, { tr: s.tr, t0: s.t0, t1: s.t1, f, by: 'level', top: 1 });
	const [x, y] = [ask(sides[0]), ask(sides[1])];
	return { counts: x.data && y.data ? [x.data.answer.matched, y.data.answer.matched] : null, error: x.error ?? y.error };
}

function times(which) {
	const m = /^\s*([\d.]+)\s*-\s*([\d.]+)\s*$/.exec(kept(`${which}t`, ''));
	return m ? [Number(m[1]) * 1e9, Number(m[2]) * 1e9] : [null, null];
}

export default function Compare() {
	const a = Number(kept('a', tr.value)), b = Number(kept('b', traces.value.find((t) => t.tr !== tr.value)?.tr ?? tr.value));
	const name = kept('table', info.value.has.switches ? 'cpu' : info.value.has.spans ? 'spans' : 'events');
	const by = tables.find(([t]) => t === name)?.[1] ?? '';
	const per = kept('per', 'absolute');
	const [a0, a1] = times('a'), [b0, b1] = times('b');
	const same = a === b && a0 === b0 && a1 === b1, flame = name === 'stacks';
	const [flameState, setFlame] = useFlame((w) => kept(w, ''), setParams);
	const lengths = [a1 !== null ? a1 - a0 : info.value.last, b1 !== null ? b1 - b0 : info.value.last];
	const event = kept('event', '');
	const { counts, error } = useCounts(per === 'event' && !same, [{ tr: a, t0: a0, t1: a1 }, { tr: b, t0: b0, t1: b1 }], event);
	const scale = per === 'second' ? lengths.map((ns) => 1e9 / Math.max(1, ns)) : per === 'event' && counts ? counts.map((n) => 1 / Math.max(1, n)) : [1, 1];
	const question = { a, b, a0, a1, b0, b1 };
	const state = useAsk(same || flame ? null : 'compare', { ...question, name, group_by: by });
	const only = kept('only', '');
	const table = useMemo(() => (state.data ? join(state.data, scale, only) : null), [state.data, scale.join(), only]);
	return html`<div class="stretch"><div class="head"><h1>Compare</h1>
			<label>Table <select value=${name} onChange=${(e) => keep('table', e.target.value, false)}>${tables.map(([t]) => html`<option value=${t} selected=${t === name}>${t === 'stacks' ? 'stacks (flame graph)' : t}</option>`)}</select></label>
			<label>Numbers <select value=${per} onChange=${(e) => keep('per', e.target.value, false)}><option value="absolute">as they are</option><option value="second" selected=${per === 'second'}>per second</option><option value="event" selected=${per === 'event'}>per event …</option></select></label>
			${per === 'event' && html`<label>of <input class="mono" placeholder="event == Request" aria-label="Filter of the events that are counted against" value=${event} onKeyDown=${(e) => e.stopPropagation()} onChange=${(e) => keep('event', e.target.value.trim(), false)} /></label>
				<span class=${error ? 'bad' : 'note'} role=${error ? 'alert' : 'status'}>${error ? visible(error.message) : counts ? `${plural(counts[0], 'event')} in the base, ${plural(counts[1], 'event')} in the new one` : ''}</span>`}
			${!flame && html`<label>Show <select value=${only} onChange=${(e) => keep('only', e.target.value, false)}>${[['', 'all'], ['new', 'what is new'], ['gone', 'what has vanished'], ['both', 'what is in both']].map(([v, t]) => html`<option value=${v} selected=${v === only}>${t}</option>`)}</select></label>`}
			<span class="grow"></span><${Command} words=${['diff', '--table', name, '--group-by', by]} where=${false} /></div>
		<div class="cards"><${Pick} which="a" /><${Pick} which="b" /></div>
		${same ? html`<div class="teach"><p>Choose another trace, or two different times: select a part anywhere, then press "the present selection".</p></div>` : flame ? html`<${FlameOf} label="the difference" state=${flameState} set=${setFlame} scale=${scale}
			question=${{ tr: b, t0: b0, t1: b1, weight: kept('weight', 'samples') }} base=${{ tr: a, t0: a0, t1: a1, weight: kept('weight', 'samples') }}>
			<${Choice} label="Weight" value=${kept('weight', 'samples')} options=${[['samples', 'CPU samples'], ['blocked', 'time blocked'], ['events', 'events']]} set=${(v) => keep('weight', v)} /><//>` : html`<${Asked} state=${state}>${() => table && html`<p class="note">${table.onlyA} only in the base, ${table.onlyB} only in the new one.</p>${spread[name] && html`<${Distribution} key=${name} name=${name} question=${question} />`}<${DataTable} label="Differences" columns=${table.columns} rows=${table.rows} render=${(row, i, c) => (c.ratio && row[i] === 'new' ? html`<span class="up">new</span>` : c.ratio && row[i] === 'gone' ? html`<span class="down">vanished</span>` : c.ratio ? html`<span class=${row[i] > 1.05 ? 'up' : row[i] < 0.95 ? 'down' : ''}>${row[i] === null ? '' : `${row[i].toFixed(2)}×`}</span>` : c.diff ? html`<span class=${row[i] > 0 ? 'up' : row[i] < 0 ? 'down' : ''}>${row[i] > 0 ? '+' : ''}${cell(row[i], c)}</span>` : undefined)} />`}<//>`}</div>`;
}

// The first number of each group on both sides, with difference and ratio; largest change first.
function join(d, times, only) {
	const keys = d.columns.map((c, i) => [c, i]).filter(([c]) => c.key), at = d.columns.findIndex((c) => c.number && !c.key && !/^count/.test(c.name));
	const n = at < 0 ? d.columns.findIndex((c) => !c.key) : at;
	const scale = (v, side) => (v === null || v === undefined ? null : /^(count|sum)/.test(d.columns[n].name) ? v * times[side] : v);
	const rows = [];
	let onlyA = 0, onlyB = 0;
	for (const k of new Set([...Object.keys(d.a), ...Object.keys(d.b)])) {
		const x = d.a[k], y = d.b[k];
		onlyA += !y;
		onlyB += !x;
		if ((only === 'new' && x) || (only === 'gone' && y) || (only === 'both' && !(x && y))) {
			continue;
		}
		const u = scale(x?.[n] ?? 0, 0), v = scale(y?.[n] ?? 0, 1);
		rows.push([...keys.map(([, i]) => (x ?? y)[i]), u, v, v - u, !x ? 'new' : !y ? 'gone' : u ? v / u : null]);
	}
	rows.sort((p, q) => Math.abs(q[keys.length + 2]) - Math.abs(p[keys.length + 2]));
	const c = d.columns[n];
	const unit = { number: true, unit: c.unit };
	return { rows, onlyA, onlyB, columns: [...keys.map(([x]) => x), { name: 'base', title: `${c.name}, base`, ...unit }, { name: 'new', title: `${c.name}, new`, ...unit }, { name: 'difference', diff: true, ...unit }, { name: 'ratio', ratio: true, number: true, unit: 'none' }] };
}
