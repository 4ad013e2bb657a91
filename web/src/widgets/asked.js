// SPDX-License-Identifier: MIT
// What is shown while an answer is on its way, and when there is none.
import { html } from '../ui.js';
import { visible } from '../text.js';
import { Teach } from '../shell/shell.js';

export function Asked({ state, children }) {
	if (state.data) {
		return children(state.data);
	}
	if (state.error) {
		return state.error.teach ? html`<${Teach} text=${`${state.error.message} \`${state.error.teach}\``} />` : html`<div class="teach" role="alert"><p>${visible(state.error.message)}</p></div>`;
	}
	return html`<div class="teach" role="status"><p>…</p></div>`;
}
