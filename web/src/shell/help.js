// SPDX-License-Identifier: MIT
// The keys of this page.
import { html, signal, useLayoutEffect, useRef } from '../ui.js';
import { page } from '../state.js';
import { pages } from '../pages/index.js';

export const helpOpen = signal(false);

const everywhere = [
	['/', 'write a filter'],
	['Ctrl+P', 'find a command, a process, a provider, an event'],
	['Backspace', 'the view before this one'],
	['W  S', 'closer, farther'],
	['A  D', 'earlier, later'],
	['F', 'the whole trace'],
	['M', 'mark this time'],
	['[  ]', 'the match before, the next match'],
	['G, letter', `a page: ${pages.map((p) => `${p.key} ${p.title}`).join(', ')}`],
	['?', 'these keys'],
];

export function Help() {
	const ref = useRef(null);
	useLayoutEffect(() => ref.current?.focus(), [helpOpen.value]);
	if (!helpOpen.value) {
		return null;
	}
	const p = pages.find((x) => x.id === page.value);
	return html`<div class="veil" onPointerDown=${(e) => e.target === e.currentTarget && (helpOpen.value = false)}>
		<div class="palette help" role="dialog" aria-modal="true" aria-label="Keys" tabindex="-1" ref=${ref} onKeyDown=${(e) => e.key === 'Escape' && (helpOpen.value = false)}>
			<h2>Keys</h2>
			<dl>${[...(p?.keys ?? []), ...everywhere].map(([k, what]) => html`<dt><kbd>${k}</kbd></dt><dd>${what}</dd>`)}</dl>
			<button onClick=${() => (helpOpen.value = false)}>Close</button>
		</div>
	</div>`;
}
