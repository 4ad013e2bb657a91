// SPDX-License-Identifier: MIT
// Pages that are tables of openetw report: tabs, what each is grouped by, single rows on request.
import { html, useState } from '../ui.js';
import { selection, useAsk, kept, keep, filter } from '../state.js';
import { DataTable } from '../widgets/table.js';
import { Asked } from '../widgets/asked.js';
import { Tabs } from '../widgets/tabs.js';
import { Command } from '../shell/command.js';
import { plural } from '../text.js';

// view: { table, by: [[title, group_by, columns]], rows: columns, where, sort }
export function TableView({ view }) {
	const which = Math.min(Number(kept('by', 0)) || 0, view.by.length);
	const single = which === view.by.length;
	const [where, setWhere] = useState(kept('where', ''));
	const group = single ? null : view.by[which];
	const params = {
		tr: selection.value.tr, t0: selection.value.t0, t1: selection.value.t1, name: view.table, top: 2000,
		where: [view.where, kept('where', '')].filter(Boolean).map((s) => `(${s})`).join(' and '),
		...(single ? { columns: view.rows, sort: view.sort } : { group_by: group[1], columns: group[2] }),
	};
	const state = useAsk('table', params);
	const words = ['report', '--table', view.table, ...(single ? ['--columns', view.rows] : ['--group-by', group[1], '--columns', group[2]]), ...(params.where ? ['--filter', params.where] : [])];
	return html`<div class="head">
			<label>By <select value=${which} onChange=${(e) => keep('by', e.target.value)}>
				${view.by.map(([title], i) => html`<option value=${i} selected=${i === which}>${title}</option>`)}
				${view.rows && html`<option value=${view.by.length} selected=${single}>each one</option>`}
			</select></label>
			<label>where <input class="mono" value=${where} placeholder=${view.example ?? 'duration > 1ms'} onInput=${(e) => setWhere(e.target.value)} onKeyDown=${(e) => {
				e.stopPropagation();
				if (e.key === 'Enter') {
					keep('where', where.trim(), false);
				}
			}} onBlur=${() => keep('where', where.trim())} /></label>
			${state.data && html`<span class="dim">${plural(state.data.matched, view.one ?? 'row', view.many)}</span>`}
			${filter.value && html`<span class="note">The filter of the page is about events; this table takes its times.</span>`}
			<span class="grow"></span><${Command} words=${words} where=${false} />
		</div>
		<${Asked} state=${state}>${(a) => html`<${DataTable} columns=${a.columns} rows=${a.rows} all=${a.all} label=${view.title} />`}<//>`;
}

// views: [{ id, title, … }]
export function TablePage({ title, views, top }) {
	return html`<div class="stretch">
		<div class="head"><h1>${title}</h1></div>
		${top}
		${views.length === 1 ? html`<${TableView} view=${views[0]} />` : html`<${Tabs} tabs=${views.map((v) => [v.id, v.title])}>${(id) => html`<${TableView} key=${id} view=${views.find((v) => v.id === id)} />`}<//>`}
	</div>`;
}
