// SPDX-License-Identifier: MIT
// Any question, in SQL.
import { html, useRef, useState } from '../ui.js';
import { tr, useAsk, info, toast, remembered, rememberAs } from '../state.js';
import { post } from '../api.js';
import { DataTable } from '../widgets/table.js';
import { Command } from '../shell/command.js';
import { visible, plural } from '../text.js';

const first = 'select provider, event, count(*) as events\nfrom events group by all order by events desc limit 50';

function toTable(rows) {
	const names = Object.keys(rows[0] ?? {});
	return { columns: names.map((n) => ({ name: n, number: rows.every((r) => r[n] === null || typeof r[n] === 'number'), unit: /duration|pause|running|ready|waiting$|^took/.test(n) ? 'duration' : /^(time|start|stop|first|last)$/.test(n) ? 'time' : /bytes/.test(n) ? 'bytes' : 'none' })), rows: rows.map((r) => names.map((n) => r[n])) };
}

export default function Sql() {
	const [text, setText] = useState(remembered('sql') || first);
	const [state, setState] = useState({});
	const queries = useAsk('queries', {}, { still: true });
	const tables = useAsk('tables', { tr: tr.value }, { still: true });
	const control = useRef(null);
	const run = async () => {
		control.current?.abort();
		control.current = new AbortController();
		rememberAs('sql', text);
		setState({ runs: true });
		try {
			setState({ data: await post('sql', { tr: tr.value, text, most: 5000 }, control.current.signal) });
		} catch (e) {
			setState(e.name === 'AbortError' ? {} : { error: e.message });
		}
	};
	const file = info.value.files[0]?.path;
	return html`<div class="stretch"><div class="head"><h1>SQL</h1><span class="grow"></span><${Command} words=${['sql']} where=${false} line=${`openetw sql ${file} '${text.replace(/'/g, `'\\''`)}'`} /></div>
		<div class="two stretch">
			<div class="card side"><h2>Ready queries</h2><ul class="pick">${queries.data?.queries.map((q) => html`<li><button title=${q.help} onClick=${() => setText(q.sql.replace(/^--.*\n/gm, '').trim())}>${q.title || q.name}</button></li>`)}</ul>
				<h2>Tables</h2><ul class="pick">${tables.data?.tables.map((t) => html`<li><button onClick=${() => setText(`from ${t.name} limit 100`)}>${t.name}</button></li>`)}</ul></div>
			<div class="stretch">
				<textarea class="sqlbox" aria-label="Query" spellcheck=${false} value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${(e) => {
					e.stopPropagation();
					if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
						e.preventDefault();
						run();
					}
				}}></textarea>
				<div class="head"><button class="main-button" onClick=${run} disabled=${state.runs}>Run</button><span class="dim">Ctrl+Enter</span>${state.runs && html`<span role="status">asking …</span><button onClick=${() => control.current?.abort()}>Cancel</button>`}
					${state.data && html`<span class="dim">${plural(state.data.all, 'row')}${state.data.cut ? ', cut' : ''}, ${state.data.seconds.toFixed(2)} s</span>`}</div>
				${state.error && html`<pre class="bad pre" role="alert">${visible(state.error).replace(/\\u000a/g, '\n')}</pre>`}
				${state.data && html`<${DataTable} label="Result" ...${toTable(state.data.rows)} all=${state.data.all} />`}
			</div></div></div>`;
}
