// SPDX-License-Identifier: MIT
// Two traces, or two times of one, beside each other.
import { html, useMemo, useState } from '../ui.js';
import { traces, tr, range, kept, keep, useAsk, askTraces, toast, info } from '../state.js';
import { post } from '../api.js';
import { DataTable } from '../widgets/table.js';
import { Asked } from '../widgets/asked.js';
import { Command } from '../shell/command.js';
import { cell, visible, time } from '../text.js';
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
	const state = useAsk(same || flame ? null : 'compare', { a, b, a0, a1, b0, b1, name, group_by: by });
	const table = useMemo(() => (state.data ? join(state.data, per, lengths) : null), [state.data, per]);
	return html`<div class="stretch"><div class="head"><h1>Compare</h1>
			<label>Table <select value=${name} onChange=${(e) => keep('table', e.target.value, false)}>${tables.map(([t]) => html`<option value=${t} selected=${t === name}>${t === 'stacks' ? 'stacks (flame graph)' : t}</option>`)}</select></label>
			<label>Numbers <select value=${per} onChange=${(e) => keep('per', e.target.value, false)}><option value="absolute">as they are</option><option value="second" selected=${per === 'second'}>per second</option></select></label>
			<span class="grow"></span><${Command} words=${['diff', '--table', name, '--group-by', by]} where=${false} /></div>
		<div class="cards"><${Pick} which="a" /><${Pick} which="b" /></div>
		${same ? html`<div class="teach"><p>Choose another trace, or two different times: select a part anywhere, then press "the present selection".</p></div>` : flame ? html`<${FlameOf} label="the difference" state=${flameState} set=${setFlame} scale=${per === 'second' ? lengths.map((ns) => 1e9 / Math.max(1, ns)) : [1, 1]}
			question=${{ tr: b, t0: b0, t1: b1, weight: kept('weight', 'samples') }} base=${{ tr: a, t0: a0, t1: a1, weight: kept('weight', 'samples') }}>
			<${Choice} label="Weight" value=${kept('weight', 'samples')} options=${[['samples', 'CPU samples'], ['blocked', 'time blocked'], ['events', 'events']]} set=${(v) => keep('weight', v)} /><//>` : html`<${Asked} state=${state}>${() => table && html`<p class="note">${table.onlyA} only in the base, ${table.onlyB} only in the new one.</p><${DataTable} label="Differences" columns=${table.columns} rows=${table.rows} render=${(row, i, c) => (c.ratio ? html`<span class=${row[i] > 1.05 ? 'up' : row[i] < 0.95 ? 'down' : ''}>${row[i] === null ? '' : `${row[i].toFixed(2)}×`}</span>` : c.diff ? html`<span class=${row[i] > 0 ? 'up' : row[i] < 0 ? 'down' : ''}>${row[i] > 0 ? '+' : ''}${cell(row[i], c)}</span>` : undefined)} />`}<//>`}</div>`;
}

// The first number of each group on both sides, with difference and ratio; largest change first.
function join(d, per, lengths) {
	const keys = d.columns.map((c, i) => [c, i]).filter(([c]) => c.key), at = d.columns.findIndex((c) => c.number && !c.key && !/^count/.test(c.name));
	const n = at < 0 ? d.columns.findIndex((c) => !c.key) : at;
	const scale = (v, side) => (v === null || v === undefined ? null : per === 'second' && /^(count|sum)/.test(d.columns[n].name) ? (v * 1e9) / Math.max(1, lengths[side]) : v);
	const rows = [];
	let onlyA = 0, onlyB = 0;
	for (const k of new Set([...Object.keys(d.a), ...Object.keys(d.b)])) {
		const x = d.a[k], y = d.b[k];
		onlyA += !y;
		onlyB += !x;
		const u = scale(x?.[n] ?? 0, 0), v = scale(y?.[n] ?? 0, 1);
		rows.push([...keys.map(([, i]) => (x ?? y)[i]), u, v, v - u, u ? v / u : null]);
	}
	rows.sort((p, q) => Math.abs(q[keys.length + 2]) - Math.abs(p[keys.length + 2]));
	const c = d.columns[n];
	const unit = { number: true, unit: c.unit };
	return { rows, onlyA, onlyB, columns: [...keys.map(([x]) => x), { name: 'base', title: `${c.name}, base`, ...unit }, { name: 'new', title: `${c.name}, new`, ...unit }, { name: 'difference', diff: true, ...unit }, { name: 'ratio', ratio: true, number: true, unit: 'none' }] };
}
