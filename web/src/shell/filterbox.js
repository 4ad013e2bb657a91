// SPDX-License-Identifier: MIT
// The filter: a plain input with completions, coloured words and mistakes, all of which the server says. There is no second parser.
import { html, useEffect, useLayoutEffect, useRef, useState } from '../ui.js';
import { filter, go, tr, info } from '../state.js';
import { get } from '../api.js';
import { visible } from '../text.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
// Places are bytes of UTF-8.
function slice(text, from, to) {
	return decoder.decode(encoder.encode(text).subarray(from, to));
}

export function FilterBox() {
	const [text, setText] = useState(filter.value);
	const [parsed, setParsed] = useState(null);
	const [chosen, setChosen] = useState(-1);
	const [focused, setFocused] = useState(false);
	const ref = useRef(null);
	const back = useRef(null);
	useEffect(() => setText(filter.value), [filter.value]);
	const ask = (value, cursor) => {
		back.current?.abort();
		back.current = new AbortController();
		get('parse', { tr: tr.value, f: value, cursor: encoder.encode(value.slice(0, cursor)).length }, back.current.signal).then(
			(p) => {
				setParsed({ ...p, of: value });
				setChosen(-1);
			},
			() => {},
		);
	};
	const typed = (e) => {
		setText(e.target.value);
		ask(e.target.value, e.target.selectionStart);
	};
	const offers = focused && parsed?.of === text ? parsed.completions.slice(0, 12) : [];
	const take = (c) => {
		const bytes = encoder.encode(text);
		const before = decoder.decode(bytes.subarray(0, c.from)), after = decoder.decode(bytes.subarray(c.to));
		const next = `${before}${c.text}${after.startsWith(' ') ? '' : ' '}${after}`;
		setText(next);
		const at = before.length + c.text.length + 1;
		ref.current.focus();
		requestAnimationFrame(() => ref.current?.setSelectionRange(at, at));
		ask(next, at);
	};
	const apply = () => {
		if (!parsed || parsed.of !== text || !parsed.error) {
			go({ f: text.trim() });
		} else {
			ref.current.focus();
		}
	};
	const key = (e) => {
		e.stopPropagation();
		if (e.key === 'ArrowDown' && offers.length) {
			e.preventDefault();
			setChosen((chosen + 1) % offers.length);
		} else if (e.key === 'ArrowUp' && offers.length) {
			e.preventDefault();
			setChosen((chosen + offers.length) % (offers.length + 1) - 1);
		} else if ((e.key === 'Enter' || e.key === 'Tab') && chosen >= 0) {
			e.preventDefault();
			take(offers[chosen]);
		} else if (e.key === 'Enter') {
			apply();
		} else if (e.key === 'Escape') {
			setText(filter.value);
			setParsed(null);
			ref.current.blur();
		} else if (e.key === ' ' && e.ctrlKey) {
			e.preventDefault();
			ask(text, ref.current.selectionStart);
		}
	};
	const mark = useRef(null);
	useLayoutEffect(() => {
		if (mark.current && ref.current) {
			mark.current.scrollLeft = ref.current.scrollLeft;
		}
	});
	const words = () => {
		if (!parsed || parsed.of !== text) {
			return text;
		}
		const out = [];
		let at = 0;
		for (const s of parsed.spans) {
			if (s.from >= at) {
				out.push(slice(text, at, s.from), html`<span class=${`w-${s.kind}`}>${slice(text, s.from, s.to)}</span>`);
				at = s.to;
			}
		}
		out.push(slice(text, at));
		return out;
	};
	const error = focused && parsed?.of === text ? parsed.error : null;
	const examples = info.value?.examples ?? [];
	return html`<div class="filterbox ${error ? 'wrong' : ''}">
		<div class="field">
			<div class="words" ref=${mark} aria-hidden="true">${words()}</div>
			<input
				id="filter" ref=${ref} value=${text} onInput=${typed} onKeyDown=${key} spellcheck=${false} autocomplete="off" placeholder=${`Filter${examples[0] ? `, for example: ${examples[0]}` : ''}`}
				role="combobox" aria-label="Filter" aria-expanded=${offers.length > 0} aria-controls="offers" aria-autocomplete="list"
				aria-activedescendant=${chosen >= 0 ? `offer-${chosen}` : undefined} aria-invalid=${error ? 'true' : 'false'}
				onFocus=${() => {
					setFocused(true);
					ask(text, ref.current.selectionStart ?? text.length);
				}}
				onBlur=${() => setTimeout(() => setFocused(false), 150)}
				onScroll=${() => mark.current && (mark.current.scrollLeft = ref.current.scrollLeft)} />
			${filter.value && html`<button class="quiet" aria-label="Remove the filter" onClick=${() => go({ f: '' })}>×</button>`}
		</div>
		${error && html`<div class="mistake" role="alert">column ${error.column}: ${visible(error.text)}${error.nearest && !error.text.includes(error.nearest) ? html`; nearest: <b>${visible(error.nearest)}</b>` : ''}</div>`}
		${offers.length > 0 &&
		html`<ul class="offers" id="offers" role="listbox" aria-label="Completions">
			${offers.map(
				(c, i) => html`<li id=${`offer-${i}`} role="option" aria-selected=${i === chosen} class=${i === chosen ? 'chosen' : ''} onPointerDown=${(e) => {
					e.preventDefault();
					take(c);
				}}><span>${visible(c.text)}</span><small>${c.kind}</small></li>`,
			)}
		</ul>`}
	</div>`;
}
