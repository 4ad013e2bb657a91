// SPDX-License-Identifier: MIT
// A table of an answer: sorted by a click, filtered by a right-click, with bars for the first number.
import { html, useMemo, useState } from '../ui.js';
import { cell, visible, plural } from '../text.js';
import { showMenu, filterEntries, copy } from '../shell/menu.js';

// What the filter of the page is called like in a table's column.
const filters = {
	pid: (v) => `pid == ${v}`, tid: (v) => `tid == ${v}`, cpu: (v) => `cpu == ${v}`, process_name: (v) => `process == ${quote(v)}`, provider: (v) => `provider == ${quote(v)}`, event: (v) => `event == ${quote(v)}`,
	level: (v) => `level == ${v}`, file: (v) => `file == ${quote(v)}`,
};
function quote(v) {
	return String(v).includes('"') ? `'${v}'` : `"${v}"`;
}
export function filterOf(column, v) {
	return v === null || v === undefined ? null : filters[column]?.(v);
}

const MOST = 2000; // rows that are drawn

// columns: [{name, key, number, unit}], rows: [[…]]. onRow(row): a click. share: the column whose numbers are drawn as bars.
export function DataTable({ columns, rows, all, onRow, chosen, menu, share, label = 'Table', render, sortable = true }) {
	const [sort, setSort] = useState(null);
	const order = useMemo(() => {
		const list = rows.map((r, i) => [r, i]);
		if (sort) {
			const { at, down } = sort;
			list.sort(([a], [b]) => {
				const x = a[at], y = b[at];
				const d = x === null ? (y === null ? 0 : -1) : y === null ? 1 : typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
				return down ? -d : d;
			});
		}
		return list;
	}, [rows, sort]);
	const lastKey = columns.reduce((n, c, i) => (c.key ? i : n), -1);
	const bar = share ?? columns.findIndex((c) => c.number && !c.key && c.unit !== 'time' && c.unit !== 'address');
	const most = useMemo(() => (bar < 0 ? 0 : rows.reduce((m, r) => Math.max(m, typeof r[bar] === 'number' ? r[bar] : 0), 0)), [rows, bar]);
	const onMenu = (e, row, i) =>
		showMenu(e, [
			...filterEntries(filterOf(columns[i].name, row[i]), cell(row[i], columns[i])),
			...(menu?.(row, i) ?? []),
			{ text: 'Copy this row', run: () => copy(row.map((v, k) => cell(v, columns[k])).join('\t')) },
			{ text: 'Copy the table', run: () => copy([columns.map((c) => c.name).join('\t'), ...order.map(([r]) => r.map((v, k) => cell(v, columns[k])).join('\t'))].join('\n')) },
		]);
	if (rows.length === 0) {
		return html`<div class="tablewrap"><p class="empty">No rows in this selection.</p></div>`;
	}
	return html`<div class="tablewrap" tabindex="0" role="region" aria-label=${label}><table class="data">
		<thead><tr>${columns.map(
			(c, i) => html`<th scope="col" class=${`${c.number && !c.key ? 'num' : ''} ${i === lastKey && lastKey < columns.length - 1 ? 'lastkey' : ''}`} aria-sort=${sort?.at === i ? (sort.down ? 'descending' : 'ascending') : 'none'}>
				${sortable ? html`<button onClick=${() => setSort(sort?.at === i ? (sort.down ? { at: i, down: false } : null) : { at: i, down: c.number && !c.key })}>${visible(c.title ?? c.name)}${sort?.at === i ? (sort.down ? ' ↓' : ' ↑') : ''}</button>` : visible(c.title ?? c.name)}</th>`,
		)}</tr></thead>
		<tbody>${order.slice(0, MOST).map(
			([row, k]) => html`<tr key=${k} class=${chosen?.(row) ? 'chosen' : ''} onClick=${onRow && (() => onRow(row, k))}>
				${columns.map((c, i) => html`<td class=${`${c.number && !c.key ? 'num' : ''} ${i === lastKey && lastKey < columns.length - 1 ? 'lastkey' : ''}`} title=${typeof row[i] === 'string' ? visible(row[i]) : undefined} onContextMenu=${(e) => onMenu(e, row, i)}>
					${render?.(row, i, c) ?? cell(row[i], c)}
					${i === bar && most > 0 && typeof row[i] === 'number' && html`<span class="share" ref=${(e) => e && (e.style.width = `${(100 * Math.max(0, row[i])) / most}%`)}></span>`}
				</td>`)}
			</tr>`,
		)}</tbody>
	</table></div>
	${(order.length > MOST || (all ?? 0) > rows.length) && html`<p class="note">${plural(all ?? rows.length, 'row')} in all; ${Math.min(order.length, MOST)} are shown. Select a part to see the rest.</p>`}`;
}
