// SPDX-License-Identifier: MIT
import { html } from '../ui.js';

export default function Page() {
	return html`<div class="teach"><p>…</p></div>`;
}
