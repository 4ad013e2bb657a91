// SPDX-License-Identifier: MIT
// The editor of queries: completions of words of SQL, tables, and the columns of tables that the query names.
import { autocompletion, acceptCompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { nonce } from '../ui.js';
import { visible } from '../text.js';

const keywords = 'select distinct from where group by order by all limit offset having join left on using with as and or not in is null like between case when then else end count sum min max avg median quantile_cont desc asc union'.split(' ');

// columns(table) → promise of [{table, column}]; tables(): names. change(text); run().
export function createSqlEditor(host, { text, tables, columns, change, run }) {
	const complete = async (context) => {
		const word = context.matchBefore(/[\w.]*/);
		if (!word || (word.from === word.to && !context.explicit)) {
			return null;
		}
		const query = context.state.doc.toString().toLowerCase(), [, table] = /^(\w+)\.\w*$/.exec(word.text) ?? [];
		const named = (await Promise.all(tables().filter((t) => (table ? t === table.toLowerCase() : new RegExp(`\\b${t}\\b`).test(query))).map(columns))).flat();
		const options = named.map((c) => ({ label: visible(c.column), detail: c.table, boost: 2 }));
		if (!table) {
			options.push(...tables().map((t) => ({ label: visible(t), detail: 'table', boost: 1 })), ...keywords.map((k) => ({ label: k, detail: 'word' })));
		}
		return { from: table ? word.from + table.length + 1 : word.from, options, validFor: /^\w*$/ };
	};
	const view = new EditorView({
		parent: host,
		state: EditorState.create({
			doc: text,
			extensions: [
				EditorView.cspNonce.of(nonce), history(), EditorView.lineWrapping,
				autocompletion({ override: [complete], icons: false, activateOnTypingDelay: 50 }),
				keymap.of([{ key: 'Mod-Enter', run: () => (run(), true) }, { key: 'Tab', run: acceptCompletion }, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
				EditorView.contentAttributes.of({ 'aria-label': 'Query', spellcheck: 'false' }),
				EditorView.updateListener.of((u) => u.docChanged && change(u.state.doc.toString())),
				EditorView.domEventHandlers({ keydown: (e) => e.stopPropagation() }),
			],
		}),
	});
	return {
		set: (value) => value !== view.state.doc.toString() && view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } }),
		destroy: () => view.destroy(),
	};
}
