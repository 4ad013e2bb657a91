// SPDX-License-Identifier: MIT
import { html } from '../ui.js';
import { kept, keep } from '../state.js';

// tabs: [[id, title]]. Which one is shown stands in the address. Calls children(id).
export function Tabs({ name = 'tab', tabs, children }) {
	const now = tabs.some(([id]) => id === kept(name)) ? kept(name) : tabs[0][0];
	const key = (e) => {
		const i = tabs.findIndex(([id]) => id === now);
		const d = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? tabs.length - 1 : 0;
		if (d) {
			e.preventDefault();
			const next = tabs[(i + d) % tabs.length][0];
			keep(name, next);
			requestAnimationFrame(() => document.getElementById(`tab-${next}`)?.focus());
		}
	};
	return html`<div class="tabs" role="tablist" onKeyDown=${key}>
			${tabs.map(([id, title]) => html`<button role="tab" id=${`tab-${id}`} aria-selected=${id === now} aria-controls="tabpanel" tabindex=${id === now ? 0 : -1} onClick=${() => keep(name, id)}>${title}</button>`)}
		</div>
		<div id="tabpanel" role="tabpanel" aria-labelledby=${`tab-${now}`} class="stretch">${children(now)}</div>`;
}
