// SPDX-License-Identifier: MIT
// The pages, in the order in which a problem is usually approached. Each is loaded when it is shown first. `has` says whether the
// trace has data for it: true, or a sentence that says how to record it.
import { still } from '../still.js';

const record = (what, command) => `${what} \`${command}\` records them.`;

const all = [
	{ id: 'home', title: 'Home', key: 'h', alone: true, load: () => import('./home.js') },
	{ id: 'overview', title: 'Overview', key: 'o', load: () => import('./overview.js') },
	{ id: 'timeline', title: 'Timeline', key: 't', load: () => import('./timeline.js'), keys: [['Shift+drag', 'select an area'], ['← → ↑ ↓', 'from piece to piece, from lane to lane'], ['Enter', 'why it waited'], ['Z', 'zoom to the piece'], ['Escape', 'no area, no arrows'], ['Shift+wheel', 'scroll the lanes']] },
	{ id: 'events', title: 'Events', key: 'e', load: () => import('./events.js'), keys: [['J  K', 'next row, row before'], ['Enter', 'everything about this event'], ['Home  End', 'first row, last row'], ['Shift+F10', 'what can be done with this cell']] },
	{ id: 'cpu', title: 'CPU', key: 'c', load: () => import('./cpu.js'), keys: [['/', 'highlight frames'], ['← → ↑ ↓', 'from frame to frame'], ['Enter', 'fill the width with it'], ['Escape', 'the whole graph']], has: (h) => h.samples > 0 || h.switches > 0 || record('No samples and no context switches were recorded.', 'openetw record --cpu --wait') },
	{ id: 'waits', title: 'Waits', key: 'w', load: () => import('./waits.js'), has: (h) => h.switches > 0 || record('No context switches were recorded.', 'openetw record --wait') },
	{ id: 'io', title: 'Disk and files', key: 'i', load: () => import('./io.js'), has: (h) => h.disk > 0 || h.file > 0 || record('No operations of disks or files were recorded.', 'openetw record --disk --file') },
	{ id: 'network', title: 'Network', key: 'n', load: () => import('./network.js'), has: (h) => h.net > 0 || h.packets > 0 || record('No connections were recorded.', 'openetw record --net') },
	{ id: 'memory', title: 'Memory', key: 'm', load: () => import('./memory.js'), has: (h) => h.faults > 0 || h.heap > 0 || h.memory > 0 || record('No page faults and no allocations were recorded.', 'openetw record --faults --memory') },
	{ id: 'dotnet', title: '.NET', key: 'd', load: () => import('./dotnet.js'), has: (h) => h.gc > 0 || h.jit > 0 || 'No events of .NET were recorded. `openetw run -p Microsoft-Windows-DotNETRuntime` records them.' },
	{ id: 'providers', title: 'Providers', key: 'p', alone: true, load: () => import('./providers.js') },
	{ id: 'live', title: 'Live machine', key: 'l', alone: true, load: () => import('./live.js') },
	{ id: 'compare', title: 'Compare', key: 'x', load: () => import('./compare.js') },
	{ id: 'sql', title: 'SQL', key: 's', load: () => import('./sql.js') },
	{ id: 'diagnostics', title: 'Diagnostics', key: 'g', load: () => import('./diagnostics.js') },
];
// A file has those that it was made of.
export const pages = all.filter((p) => !still || still.pages.includes(p.id));
