// SPDX-License-Identifier: MIT
// The palette: pages, commands, processes, providers and events, found by some of their letters.
import { html, signal, useLayoutEffect, useRef, useState } from '../ui.js';
import fuzzysort from 'fuzzysort';
import { go, and, tr, zoomOut, theme } from '../state.js';
import { get } from '../api.js';
import { pages } from '../pages/index.js';
import { visible } from '../text.js';

export const paletteOpen = signal(false);

function commands() {
	return [
		...pages.map((p) => ({ kind: 'page', text: p.title, run: () => go({ page: p.id }) })),
		{ kind: 'command', text: 'Show the whole trace', run: () => go({ t0: null, t1: null }) },
		{ kind: 'command', text: 'Zoom out', run: zoomOut },
		{ kind: 'command', text: 'Remove the filter', run: () => go({ f: '' }) },
		{ kind: 'command', text: 'Dark', run: () => (theme.value = 'dark') },
		{ kind: 'command', text: 'Light', run: () => (theme.value = 'light') },
		{ kind: 'command', text: 'As the system: dark or light', run: () => (theme.value = '') },
	];
}

async function ofTrace() {
	const id = tr.value;
	const names = async (by, kind) => {
		try {
			const a = await get('facets', { tr: id, by, top: 500 });
			return a.rows.filter((r) => r.filter).map((r) => ({ kind, text: r.text, run: () => and(r.filter) }));
		} catch {
			return [];
		}
	};
	return [...(await names('process', 'process')), ...(await names('provider', 'provider')), ...(await names('type', 'event'))];
}

export function Palette() {
	const [text, setText] = useState('');
	const [more, setMore] = useState([]);
	const [at, setAt] = useState(0);
	const ref = useRef(null);
	const shown = paletteOpen.value;
	useLayoutEffect(() => { /* before the next key comes */
		if (shown) {
			setText('');
			setAt(0);
			ofTrace().then(setMore);
			ref.current?.focus();
		}
	}, [shown]);
	if (!shown) {
		return null;
	}
	const all = [...commands(), ...more];
	const found = text ? fuzzysort.go(text, all, { key: 'text', limit: 30 }).map((r) => r.obj) : all.slice(0, 30);
	const run = (e) => {
		paletteOpen.value = false;
		e?.run();
	};
	const key = (e) => {
		e.stopPropagation();
		if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
			e.preventDefault();
			setAt((at + (e.key === 'ArrowDown' ? 1 : found.length - 1)) % Math.max(1, found.length));
		} else if (e.key === 'Enter') {
			run(found[at]);
		} else if (e.key === 'Escape') {
			paletteOpen.value = false;
		}
	};
	return html`<div class="veil" onPointerDown=${(e) => e.target === e.currentTarget && (paletteOpen.value = false)}>
		<div class="palette" role="dialog" aria-modal="true" aria-label="Commands">
			<input ref=${ref} value=${text} placeholder="A page, a command, a process, a provider, an event" aria-label="Search commands" role="combobox" aria-expanded="true" aria-controls="palette-list"
				aria-activedescendant=${`p-${at}`} onInput=${(e) => {
					setText(e.target.value);
					setAt(0);
				}} onKeyDown=${key} />
			<ul id="palette-list" role="listbox" aria-label="Commands">
				${found.map((e, i) => html`<li id=${`p-${i}`} role="option" aria-selected=${i === at} class=${i === at ? 'chosen' : ''} onClick=${() => run(e)}><span>${visible(e.text)}</span><small>${e.kind}</small></li>`)}
			</ul>
			${found.length === 0 && html`<p class="empty">Nothing has these letters.</p>`}
		</div>
	</div>`;
}
