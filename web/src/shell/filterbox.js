// SPDX-License-Identifier: MIT
// The filter of the page. At first a plain input, which works at once; the editor with completions comes when it is used first, and
// takes over what was typed. All that is known of the language the server says.
import { html, useEffect, useRef, useState } from '../ui.js';
import { filter, go, tr, info, remembered, rememberAs } from '../state.js';
import { get } from '../api.js';
import { visible } from '../text.js';

const PAST = 30;
const STILL_MS = 400; // nobody types for so long: the editor may come
const AHEAD_MS = 1500; // so long after the page it is fetched, also when nobody has used the filter
const encoder = new TextEncoder();

function past() {
	try {
		const list = JSON.parse(remembered('filters') || '[]');
		return Array.isArray(list) ? list.filter((s) => typeof s === 'string') : [];
	} catch {
		return [];
	}
}
function addPast(text) {
	if (text) {
		rememberAs('filters', JSON.stringify([text, ...past().filter((s) => s !== text)].slice(0, PAST)));
	}
}
function parse(text, cursor, signal) {
	return get('parse', { tr: tr.value, f: text, cursor: cursor === null ? undefined : encoder.encode(text.slice(0, cursor)).length }, signal);
}

export function FilterBox() {
	const [text, setText] = useState(filter.value);
	const [parsed, setParsed] = useState(null);
	const [editor, setEditor] = useState(null);
	const input = useRef(null), host = useRef(null), asked = useRef(false), keyed = useRef(-STILL_MS);
	const hint = `Filter${info.value?.examples?.[0] ? `, for example: ${info.value.examples[0]}` : ''}`;
	/* Only when the page's filter is another one: an editor that has just come holds what was typed. */
	const made = useRef(null);
	made.current = editor;
	useEffect(() => {
		setText(filter.value);
		made.current?.set(filter.value);
	}, [filter.value]);
	useEffect(() => () => editor?.destroy(), [editor]);

	const apply = async (value) => {
		const f = value.trim();
		try {
			const p = f ? await parse(f, null) : { error: null };
			setParsed({ ...p, of: f });
			if (!p.error) {
				addPast(f);
				go({ f });
			}
		} catch {
			go({ f });
		}
	};
	const load = () => {
		if (asked.current) {
			return;
		}
		asked.current = true;
		import('./filter_editor.js').then(
			({ createEditor }) => {
				const swap = () => {
					const i = input.current;
					if (!i || !host.current) {
						return;
					}
					const there = document.activeElement === i, place = i.selectionStart;
					i.remove(); /* before the focus moves: afterwards the browser would move the cursor again */
					const made = createEditor(host.current, { text: i.value, hint, parse, apply, past, parsed: setParsed, leave: () => filter.value });
					if (there) {
						made.view.focus();
					}
					/* The browser puts the cursor in front when it has given the focus: behind that it goes where it was. */
					const back = () => made.view.state.doc.toString() === i.value && made.view.dispatch({ selection: { anchor: Math.min(place ?? i.value.length, i.value.length) } });
					back();
					setTimeout(back, 30);
					setEditor(made);
				};
				/* What is being typed or composed is not torn away: keys that come meanwhile would go where the browser puts the cursor. */
				const idle = () => {
					const i = input.current;
					if (i && document.activeElement === i && (i.dataset.composing || performance.now() - keyed.current < STILL_MS)) {
						setTimeout(idle, STILL_MS / 2);
					} else {
						swap();
					}
				};
				idle();
			},
			() => {}, /* the plain input stays */
		);
	};
	useEffect(() => {
		const later = setTimeout(load, AHEAD_MS);
		return () => clearTimeout(later);
	}, []);
	const key = (e) => {
		e.stopPropagation();
		keyed.current = performance.now();
		if (e.key === 'Enter') {
			apply(e.target.value);
		} else if (e.key === 'Escape') {
			setText(filter.value);
			e.target.blur();
		}
	};
	const error = parsed?.error ?? null;
	return html`<div class=${`filterbox ${error ? 'wrong' : ''}`}>
		<div class="field">
			<div class="editor" ref=${host}></div>${!editor && html`<input id="filter" ref=${input} value=${text} placeholder=${hint} aria-label="Filter" spellcheck=${false} autocomplete="off"
				onFocus=${load} onPointerEnter=${load} onInput=${(e) => setText(e.target.value)} onKeyDown=${key}
				onCompositionStart=${(e) => (e.target.dataset.composing = '1')} onCompositionEnd=${(e) => delete e.target.dataset.composing} />`}
			${filter.value && html`<button class="quiet" aria-label="Remove the filter" onClick=${() => go({ f: '' })}>×</button>`}
		</div>
		${error && html`<div class="mistake" role="alert">column ${error.column}: ${visible(error.text)}${error.nearest && !error.text.includes(error.nearest) ? html`; nearest: <b>${visible(error.nearest)}</b>` : ''}</div>`}
	</div>`;
}
