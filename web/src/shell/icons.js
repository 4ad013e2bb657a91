// SPDX-License-Identifier: MIT
// Line icons, 24 × 24, drawn as elements.
import { html } from '../ui.js';

const paths = {
	home: 'M4 11 12 4l8 7M6 10v10h12V10',
	overview: 'M4 5h16v6H4zM4 14h7v6H4zM14 14h6v6h-6z',
	timeline: 'M4 7h9M8 12h11M4 17h7M15 17h5',
	events: 'M4 6h16M4 11h16M4 16h16M4 21h10',
	cpu: 'M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4',
	waits: 'M7 3h10M7 21h10M8 3c0 5 8 5 8 9s-8 4-8 9M16 3c0 5-8 5-8 9s8 4 8 9',
	io: 'M4 6c0-2 16-2 16 0v12c0 2-16 2-16 0zM4 6c0 2 16 2 16 0M4 12c0 2 16 2 16 0',
	network: 'M12 4v6M5 20v-5h14v5M12 10v5M9 4h6v0M3 20h4M17 20h4M10 10h4',
	memory: 'M4 8h16v8H4zM7 8v8M11 8v8M15 8v8M6 16v3M12 16v3M18 16v3',
	dotnet: 'M5 17V7l5 10V7M14 7h5M14 12h4M14 17h5M14 7v10',
	providers: 'M12 5a2 2 0 1 0 .01 0M5 17a2 2 0 1 0 .01 0M19 17a2 2 0 1 0 .01 0M12 9v4M12 13l-6 4M12 13l6 4',
	live: 'M12 12h.01M8 8a6 6 0 0 0 0 8M16 8a6 6 0 0 1 0 8M5 5a10 10 0 0 0 0 14M19 5a10 10 0 0 1 0 14',
	compare: 'M9 4v16M15 4v16M4 8h5M4 14h5M15 10h5M15 16h5',
	sql: 'M8 8l-4 4 4 4M16 8l4 4-4 4M13 5l-2 14',
	diagnostics: 'M4 12h4l2-6 4 12 2-6h4',
	command: 'M5 8l4 4-4 4M12 17h7',
	sun: 'M12 8a4 4 0 1 0 .01 0M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5 19 19M19 5l-1.5 1.5M6.5 17.5 5 19',
	close: 'M6 6l12 12M18 6 6 18',
	more: 'M5 12h.01M12 12h.01M19 12h.01',
	export: 'M12 4v11M7 10l5 5 5-5M5 20h14',
	mark: 'M6 3v18M6 4h11l-3 4 3 4H6',
};

export function Icon({ name, size = 20 }) {
	return html`<svg class="icon" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
		<path d=${paths[name] ?? paths.more} fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" />
	</svg>`;
}
