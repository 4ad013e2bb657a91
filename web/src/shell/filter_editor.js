// SPDX-License-Identifier: MIT
// The filter's editor, by CodeMirror: completions, colours of words, underlined mistakes, undo, filters that were used before. What the
// words are, the server says (/api/parse); there is no second parser. Loaded when the filter is used first.
import { autocompletion, acceptCompletion, closeCompletion, completionKeymap, completionStatus, startCompletion } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, keymap, placeholder } from '@codemirror/view';
import { nonce } from '../ui.js';
import { visible } from '../text.js';
import { charsOf } from './filter_places.js';

const told = StateEffect.define();

// Words and mistake of a text; they stand until the text changes.
const words = StateField.define({
	create: () => Decoration.none,
	update(now, tr) {
		for (const e of tr.effects) {
			if (e.is(told)) {
				return e.value;
			}
		}
		return tr.docChanged ? now.map(tr.changes) : now;
	},
	provide: (field) => EditorView.decorations.from(field),
});

function decorate(text, parsed) {
	const places = charsOf(text), marks = [];
	for (const s of parsed.spans) {
		const from = places(s.from), to = places(s.to);
		if (to > from) {
			marks.push(Decoration.mark({ class: `w-${s.kind}` }).range(from, to));
		}
	}
	if (parsed.error && text.length > 0) {
		/* From the mistake to the end of the word; behind the end of the text it is the last letter. */
		const from = Math.min(places(parsed.error.column - 1), text.length - 1);
		marks.push(Decoration.mark({ class: 'w-wrong' }).range(from, from + Math.max(1, /^\S*/.exec(text.slice(from))[0].length)));
	}
	return Decoration.set(marks, true);
}

// parse(text, cursor or null, signal) → what /api/parse answers. apply(text): Enter. leave(): Escape. parsed(answer of the text).
// past(): filters that were used, newest first.
export function createEditor(host, { text, hint, parse, apply, leave, parsed, past }) {
	let control = null, wrong = false, at = -1, draft = '';
	const look = (view) => {
		control?.abort();
		control = new AbortController();
		const value = view.state.doc.toString();
		parse(value, null, control.signal).then(
			(p) => {
				wrong = !!p.error;
				view.dispatch({ effects: told.of(decorate(value, p)) });
				parsed({ ...p, of: value });
			},
			() => {},
		);
	};
	const complete = async (context) => {
		const value = context.state.doc.toString(), stop = new AbortController();
		context.addEventListener('abort', () => stop.abort());
		let p;
		try {
			p = await parse(value, context.pos, stop.signal);
		} catch {
			return null;
		}
		if (!p.completions.length) {
			return null;
		}
		const places = charsOf(value), from = places(p.completions[0].from);
		return {
			from, filter: false,
			options: p.completions.filter((c) => places(c.from) === from).slice(0, 100).map((c) => ({
				label: visible(c.text), detail: c.kind,
				apply(view) {
					const end = places(c.to), space = view.state.doc.sliceString(end, end + 1) === ' ' ? '' : ' ';
					view.dispatch({ changes: { from, to: end, insert: c.text + space }, selection: { anchor: from + c.text.length + 1 }, userEvent: 'input.complete' });
					startCompletion(view);
				},
			})),
		};
	};
	const set = (view, value) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value }, selection: { anchor: value.length } });
	// Up and down, where no completions are shown: what was used before.
	const step = (by) => (view) => {
		const list = past();
		if (completionStatus(view.state)) {
			return true; /* they have only just come: the cursor would move and close them */
		}
		if (at + by < -1 || at + by >= list.length) {
			return false;
		}
		draft = at < 0 ? view.state.doc.toString() : draft;
		at += by;
		set(view, at < 0 ? draft : list[at]);
		return true;
	};
	const view = new EditorView({
		parent: host,
		state: EditorState.create({
			doc: text,
			selection: { anchor: text.length },
			extensions: [
				EditorView.cspNonce.of(nonce),
				history(),
				words,
				placeholder(hint),
				autocompletion({ override: [complete], icons: false, selectOnOpen: false, interactionDelay: 0, activateOnTypingDelay: 20, maxRenderedOptions: 100 }),
				/* It is one line: what is pasted becomes one. */
				EditorState.transactionFilter.of((tr) => (tr.newDoc.lines > 1 ? [{ changes: { from: 0, to: tr.startState.doc.length, insert: tr.newDoc.toString().replace(/\s*\n\s*/g, ' ') }, selection: { anchor: Math.min(tr.newSelection.main.head, tr.newDoc.length) }, sequential: false }] : tr)),
				keymap.of([
					{ key: 'Tab', run: acceptCompletion },
					...completionKeymap,
					{ key: 'ArrowUp', run: step(1) }, { key: 'ArrowDown', run: step(-1) },
					{ key: 'Enter', run: (v) => (closeCompletion(v), apply(v.state.doc.toString()), (at = -1), true) },
					{ key: 'Escape', run: (v) => (set(v, leave()), v.contentDOM.blur(), true) },
					...historyKeymap, ...defaultKeymap.filter((k) => k.key !== 'Enter'),
				]),
				EditorView.contentAttributes.of(() => ({ id: 'filter', 'aria-label': 'Filter', 'aria-invalid': wrong ? 'true' : 'false', spellcheck: 'false', autocorrect: 'off' })),
				EditorView.updateListener.of((u) => {
					if (u.docChanged) {
						look(u.view);
					}
				}),
				EditorView.domEventHandlers({
					keydown: (e) => e.stopPropagation(), /* keys of the page are not for who types; Ctrl+P is: below */
					focus: (e, v) => {
						look(v);
						/* The browser moves the cursor when it has given the focus, which would end it. */
						setTimeout(() => v.hasFocus && startCompletion(v), 60);
					},
					blur: () => parsed(null),
				}),
			],
		}),
	});
	return {
		view,
		set: (value) => value !== view.state.doc.toString() && set(view, value),
		destroy() {
			control?.abort();
			view.destroy();
		},
	};
}
