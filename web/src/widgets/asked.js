// SPDX-License-Identifier: MIT
// What is shown while an answer is on its way, and when there is none.
import { html } from '../ui.js';
import { tr } from '../state.js';
import { post } from '../api.js';
import { visible } from '../text.js';
import { Teach } from '../shell/shell.js';

export function Asked({ state, children }) {
	if (state.data) {
		return children(state.data);
	}
	if (state.error) {
		return state.error.teach ? html`<${Teach} text=${`${state.error.message} \`${state.error.teach}\``} />` : html`<div class="teach" role="alert"><p>${visible(state.error.message)}</p></div>`;
	}
	const tables = (state.making ?? []).filter((m) => m.name !== 'index');
	if (tables.length === 0) {
		return html`<div class="teach" role="status"><p>…</p></div>`;
	}
	return html`<div class="teach" role="status">${tables.map((m) => html`<p>Reading the trace for ${visible(m.name)}: <progress max="1" value=${m.fraction} aria-label=${m.name}></progress> ${Math.round(m.fraction * 100)} %</p>`)}
		<button onClick=${() => tables.forEach((m) => post('cancel', { tr: tr.value, table: m.name }).catch(() => {}))}>Cancel</button></div>`;
}
