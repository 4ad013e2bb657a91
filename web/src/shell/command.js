// SPDX-License-Identifier: MIT
// Every view is a command: the button >_ shows the line, to be copied.
import { html, useState } from '../ui.js';
import { info, t0, t1, filter } from '../state.js';
import { shell } from '../text.js';
import { Icon } from './icons.js';
import { copy } from './menu.js';

// "openetw VERB … FILE" with the selection.
export function commandLine(words, { where = true } = {}) {
	const i = info.value;
	const out = ['openetw', ...words.map((w) => shell(String(w)))];
	for (const f of i?.files ?? []) {
		out.push(shell(f.path));
	}
	if (where) {
		if (t0.value !== null) {
			out.push('--from', `+${t0.value / 1e9}s`);
		}
		if (t1.value !== null) {
			out.push('--to', `+${t1.value / 1e9}s`);
		}
		if (filter.value) {
			out.push('--filter', shell(filter.value));
		}
	}
	return out.join(' ');
}

export function Command({ words, where = true, line }) {
	const [shown, setShown] = useState(false);
	const text = line ?? commandLine(words, { where });
	return html`<span class="command">
		<button class="quiet" title="The same on the command line" aria-label="Show the command line of this view" aria-expanded=${shown} onClick=${() => setShown(!shown)}><${Icon} name="command" size=${16} /></button>
		${shown && html`<span class="line" role="dialog" aria-label="Command line"><code>${text}</code><button onClick=${() => copy(text)}>Copy</button></span>`}
	</span>`;
}
