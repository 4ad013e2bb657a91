// SPDX-License-Identifier: MIT
// Any question, in SQL.
import { html, useEffect, useRef, useState } from '../ui.js';
import { tr, useAsk, info, toast, remembered, rememberAs, track, go } from '../state.js';
import { post } from '../api.js';
import { DataTable } from '../widgets/table.js';
import { Command } from '../shell/command.js';
import { cell, visible, plural } from '../text.js';

const first = 'select provider, event, count(*) as events\nfrom events group by all order by events desc limit 50';

function toTable(rows) {
	const names = Object.keys(rows[0] ?? {});
	return { columns: names.map((n) => ({ name: n, number: rows.every((r) => r[n] === null || typeof r[n] === 'number'), unit: /duration|pause|running|ready|waiting$|^took/.test(n) ? 'duration' : /^(time|start|stop|first|last)$/.test(n) ? 'time' : /bytes/.test(n) ? 'bytes' : 'none' })), rows: rows.map((r) => names.map((n) => r[n])) };
}

const timeNames = /^(time|start|first)$/;

// Up to 60 groups as bars: what the first text column says, as long as the first number that is no time.
function Bars({ table }) {
	const number = table.columns.findIndex((c) => c.number && c.unit !== 'time'), name = table.columns.findIndex((c) => !c.number);
	if (number < 0) {
		return html`<p class="empty">A chart needs a column of numbers.</p>`;
	}
	const rows = table.rows.slice(0, 60), most = Math.max(1e-300, ...rows.map((r) => Math.abs(r[number] ?? 0)));
	return html`<div class="card sqlchart" role="region" tabindex="0" aria-label=${`Chart of ${table.columns[number].name}`}><h2>${visible(table.columns[number].name)}</h2><ul class="bars">${rows.map((r, i) => html`<li>
		<div class="label"><b title=${visible(r[name])}>${name < 0 ? `row ${i + 1}` : visible(r[name]) || '(none)'}</b><span>${cell(r[number], table.columns[number])}</span></div>
		<div class="bar"><i ref=${(e) => e && (e.style.width = `${(100 * Math.abs(r[number] ?? 0)) / most}%`)}></i></div></li>`)}</ul>
		${table.rows.length > rows.length && html`<p class="note">The first ${rows.length} rows.</p>`}</div>`;
}

// Rows with a time become a lane of the timeline.
function toTrack(table) {
	const time = table.columns.findIndex((c) => timeNames.test(c.name) && c.number), name = table.columns.findIndex((c) => !c.number);
	const long = table.columns.findIndex((c) => c.name === 'duration' && c.number);
	return time < 0 ? null : table.rows.filter((r) => typeof r[time] === 'number').map((r) => ({ t: r[time], t1: long < 0 ? undefined : r[time] + (r[long] ?? 0), text: name < 0 ? '' : visible(r[name]) })).sort((a, b) => a.t - b.t);
}

export default function Sql() {
	const [text, setText] = useState(remembered('sql') || first);
	const [state, setState] = useState({});
	const [chart, setChart] = useState(false);
	const queries = useAsk('queries', {}, { still: true });
	const tables = useAsk('tables', { tr: tr.value }, { still: true });
	const control = useRef(null), host = useRef(null), editor = useRef(null), now = useRef({}), known = useRef({});
	const [edits, setEdits] = useState(false);
	const run = async () => {
		control.current?.abort();
		control.current = new AbortController();
		rememberAs('sql', now.current.text);
		setState({ runs: true });
		try {
			setState({ data: await post('sql', { tr: tr.value, text: now.current.text, most: 5000 }, control.current.signal) });
		} catch (e) {
			setState(e.name === 'AbortError' ? {} : { error: e.message });
		}
	};
	now.current = { text, run, tables: (tables.data?.tables ?? []).map((t) => t.name) };
	/* Asked once a table, when a completion of it is wanted first: it takes a process of its own. */
	const columns = (table) => (known.current[table] ??= post('sql', { tr: tr.value, text: `describe ${table}`, most: 1000 }).then((a) => a.rows.map((r) => ({ table, column: r.column_name })), () => []));
	useEffect(() => {
		let ended = false;
		import('./sql_editor.js').then(({ createSqlEditor }) => {
			if (!ended && host.current) {
				editor.current = createSqlEditor(host.current, { text: now.current.text, tables: () => now.current.tables, columns, change: setText, run: () => now.current.run() });
				setEdits(true);
			}
		}, () => {});
		return () => {
			ended = true;
			editor.current?.destroy();
		};
	}, []);
	const put = (value) => {
		setText(value);
		editor.current?.set(value);
	};
	const file = info.value.files[0]?.path, table = state.data && toTable(state.data.rows), points = table && toTrack(table);
	return html`<div class="stretch"><div class="head"><h1>SQL</h1><span class="grow"></span><${Command} words=${['sql']} where=${false} line=${`openetw sql ${file} '${text.replace(/'/g, `'\\''`)}'`} /></div>
		<div class="two stretch">
			<div class="card side"><h2>Ready queries</h2><ul class="pick">${queries.data?.queries.map((q) => html`<li><button title=${q.help} onClick=${() => put(q.sql.replace(/^--.*\n/gm, '').trim())}>${q.title || q.name}</button></li>`)}</ul>
				<h2>Tables</h2><ul class="pick">${tables.data?.tables.map((t) => html`<li><button onClick=${() => put(`from ${t.name} limit 100`)}>${t.name}</button></li>`)}</ul></div>
			<div class="stretch">
				<div class="sqlbox" ref=${host}></div>${!edits && html`<textarea class="sqlplain" aria-label="Query" spellcheck=${false} value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${(e) => {
					e.stopPropagation();
					if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
						e.preventDefault();
						run();
					}
				}}></textarea>`}
				<div class="head"><button class="main-button" onClick=${run} disabled=${state.runs}>Run</button><span class="dim">Ctrl+Enter</span>${state.runs && html`<span role="status">asking …</span><button onClick=${() => control.current?.abort()}>Cancel</button>`}
					${state.data && html`<span class="dim">${plural(state.data.all, 'row')}${state.data.cut ? ', cut' : ''}, ${state.data.seconds.toFixed(2)} s</span><span class="grow"></span>
						<button aria-pressed=${chart} onClick=${() => setChart(!chart)}>Chart</button>
						${points?.length > 0 && html`<button title="Rows with a time become a lane" onClick=${() => {
							track.value = { tr: tr.value, points };
							go({ page: 'timeline' });
						}}>On the timeline</button>`}`}</div>
				${state.error && html`<pre class="bad pre" role="alert">${visible(state.error).replace(/\\u000a/g, '\n')}</pre>`}
				${table && (chart ? html`<${Bars} table=${table} />` : html`<${DataTable} label="Result" columns=${table.columns} rows=${table.rows} all=${state.data.all} />`)}
			</div></div></div>`;
}
