// SPDX-License-Identifier: MIT
// The menu of a right-click (or of the menu key): entries of who was clicked.
import { html, signal, useEffect, useLayoutEffect, useRef } from '../ui.js';
import { and, andNot, keep, toast, page, tr } from '../state.js';
import { visible } from '../text.js';

const open = signal(null); // { x, y, entries, from }

export function showMenu(event, entries) {
	event.preventDefault();
	const r = event.currentTarget?.getBoundingClientRect?.();
	const keyboard = event.clientX === 0 && event.clientY === 0;
	open.value = {
		x: keyboard && r ? r.left + 10 : event.clientX,
		y: keyboard && r ? r.bottom : event.clientY,
		entries: entries.filter(Boolean),
		from: document.activeElement,
	};
}

export async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		toast('Copied', 'info');
	} catch {
		toast('The browser does not let this page copy');
	}
}

// What every cell with a filter offers.
export function filterEntries(filter, text, more = []) {
	return [
		filter && { text: 'Only this', run: () => and(filter) },
		filter && { text: 'Not this', run: () => andNot(filter) },
		...more,
		text !== undefined && text !== '' && { text: 'Copy', run: () => copy(String(text)) },
		filter && { text: 'Copy as filter', run: () => copy(filter) },
		filter && { text: 'Highlight', run: () => keep('hl', filter) },
	];
}

export function Menu() {
	const m = open.value;
	const ref = useRef(null);
	const close = () => {
		m?.from?.focus?.({ preventScroll: true });
		open.value = null;
	};
	useLayoutEffect(() => {
		if (m && ref.current) {
			const r = ref.current.getBoundingClientRect();
			ref.current.style.left = `${Math.max(4, Math.min(m.x, innerWidth - r.width - 8))}px`;
			ref.current.style.top = `${Math.max(4, Math.min(m.y, innerHeight - r.height - 8))}px`;
			ref.current.querySelector('button')?.focus();
		}
	}, [m]);
	/* Another page has other cells. */
	useEffect(() => {
		open.value = null;
	}, [page.value, tr.value]);
	useEffect(() => {
		if (!m) {
			return undefined;
		}
		const away = (e) => {
			if (!ref.current?.contains(e.target)) {
				open.value = null;
			}
		};
		addEventListener('pointerdown', away, true);
		return () => removeEventListener('pointerdown', away, true);
	}, [m]);
	if (!m) {
		return null;
	}
	const step = (e) => {
		const all = [...ref.current.querySelectorAll('button')];
		const i = all.indexOf(document.activeElement);
		if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
			e.preventDefault();
			all[(i + (e.key === 'ArrowDown' ? 1 : all.length - 1)) % all.length]?.focus();
		} else if (e.key === 'Escape' || e.key === 'Tab') {
			e.preventDefault();
			close();
		}
		e.stopPropagation();
	};
	return html`<div class="menu" role="menu" ref=${ref} onKeyDown=${step}>
		${m.entries.map(
			(e) => html`<button role="menuitem" onClick=${() => {
				close();
				e.run();
			}}>${visible(e.text)}</button>`,
		)}
	</div>`;
}
