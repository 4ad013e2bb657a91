/* SPDX-License-Identifier: MIT
 *
 * A flame graph (d3-flame-graph) of what /api/stacks answers, with a keyboard, words for screen readers, search and a
 * mode that compares two trees.
 *
 *	const flame = createFlame(host, {
 *		words(node) → text             "main, libc.so.6: 1,234 samples, 12.3 %"
 *		zoomed(path or null)           frames from the outermost to the one that fills the width
 *		found({share, value, count})   what a search matched
 *		picked(node)                   the frame that is shown in words
 *	});
 *	flame.setTree(answer, {difference: false, path: null});   nodes: [parent, name, module, self, total, a?, b?]
 *	flame.search('malloc|free');
 *
 * Names go in as text only. */

import { select } from 'd3-selection';
import flamegraph from 'd3-flame-graph';

import { nameColour } from './lanes_colour.js';

const CELL = 18;

/* The answer's rows as a tree. A parent stands before its children. */
export function treeOf(nodes, difference) {
	const made = nodes.map(([parent, name, module, self, total, a, b], id) => ({
		number: id, parent, name: String(name), module: module || '', self, value: total, a, b,
		delta: difference ? (b || 0) - (a || 0) : 0, children: [],
	}));
	for (const node of made) {
		if (node.parent >= 0 && node.parent < node.number) {
			made[node.parent].children.push(node);
		}
	}
	/* Heaviest first, from the left. */
	for (const node of made) {
		node.children.sort((x, y) => y.value - x.value || (x.name < y.name ? -1 : 1));
	}
	return made[0] || { number: 0, parent: -1, name: 'all', module: '', self: 0, value: 0, children: [] };
}

/* What a person types is a regular expression; what is none is looked for as it is. */
export function searchPattern(text) {
	if (!text) {
		return null;
	}
	try {
		return new RegExp(text, 'i');
	} catch {
		return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
	}
}

/* How much of the tree is below frames that match; a frame below another that matches counts once. */
export function matched(root, pattern) {
	let value = 0;
	let count = 0;
	const walk = [[root, false]];
	while (walk.length) {
		const [node, inside] = walk.pop();
		const hit = pattern !== null && (pattern.test(node.name) || pattern.test(node.module));
		count += hit ? 1 : 0;
		if (hit && !inside) {
			value += node.value;
		}
		for (const child of node.children) {
			walk.push([child, inside || hit]);
		}
	}
	return { value, count, share: root.value ? value / root.value : 0 };
}

function pathOf(d) {
	const path = [];
	for (let at = d; at && at.parent; at = at.parent) {
		path.unshift(at.data.module ? `${at.data.module}!${at.data.name}` : at.data.name);
	}
	return path;
}

function deltaColour(node, whole, dark) {
	const share = whole ? Math.max(-1, Math.min(1, (node.delta / whole) * 8)) : 0;
	if (Math.abs(share) < 0.004) {
		return dark ? '#6a727d' : '#d6dae0';
	}
	const strong = Math.round(30 + 55 * Math.abs(share));
	const light = Math.round((dark ? 68 : 88) - 26 * Math.abs(share));
	return share > 0 ? `hsl(8 ${strong}% ${light}%)` : `hsl(212 ${strong}% ${light}%)`;
}

export function createFlame(host, use) {
	const box = document.createElement('div');
	const spoken = document.createElement('div');
	box.className = 'flame';
	box.tabIndex = 0;
	box.setAttribute('role', 'application');
	box.setAttribute('aria-roledescription', 'flame graph');
	box.setAttribute('aria-label', 'Flame graph. Arrow keys go from frame to frame, Enter fills the width with one, Escape shows everything.');
	spoken.className = 'lanes-spoken';
	spoken.setAttribute('role', 'status');
	spoken.setAttribute('aria-live', 'polite');
	host.append(box, spoken);

	let chart = null;
	let root = null;
	let dark = false;
	let difference = false;
	let pattern = null;
	let current = null;
	let zoomedTo = null;
	let width = 0;

	const label = (d) => d.data.name;

	function colour(d) {
		if (pattern && d.parent && (pattern.test(d.data.name) || pattern.test(d.data.module))) {
			return dark ? '#e58cff' : '#d63af9';
		}
		if (!d.parent) {
			return dark ? '#59626e' : '#ccd2da';
		}
		return difference ? deltaColour(d.data, root.value, dark) : nameColour(d.data.module || d.data.name, dark);
	}

	function make() {
		width = Math.max(200, Math.floor(host.clientWidth - 2));
		box.replaceChildren();
		chart = flamegraph()
			.width(width).cellHeight(CELL).transitionDuration(0).minFrameSize(0.6)
			.inverted(true).resetHeightOnZoom(true) /* the root on top: the eye starts there, and tall trees need no scrolling */
			.getName(label)
			.label((d) => use.words(d.data, root))
			.onClick((d) => zoomed(d))
			.onHover((d) => use.picked(d.data, root))
			.color(colour);
		select(box).datum(root).call(chart);
		const svg = box.querySelector('svg');
		svg.setAttribute('aria-hidden', 'true');
		svg.setAttribute('focusable', 'false');
		current = null;
	}

	const top = () => select(box).datum();

	function zoomed(d) {
		zoomedTo = d.parent ? d : null;
		setCurrent(d);
		use.zoomed(zoomedTo ? pathOf(d) : null);
	}

	function setCurrent(d) {
		current = d;
		for (const g of box.querySelectorAll('g.is-current')) {
			g.classList.remove('is-current');
		}
		select(box).selectAll('g.frame').filter((x) => x === d).classed('is-current', true);
		spoken.textContent = use.words(d.data, root);
		use.picked(d.data, root);
	}

	box.addEventListener('keydown', (e) => {
		if (!root || e.ctrlKey || e.metaKey || e.altKey) {
			return;
		}
		const d = current || top();
		const siblings = (d.parent && d.parent.children) || [d];
		const next = {
			ArrowLeft: () => siblings[Math.max(0, siblings.indexOf(d) - 1)],
			ArrowRight: () => siblings[Math.min(siblings.length - 1, siblings.indexOf(d) + 1)],
			ArrowUp: () => d.parent,
			ArrowDown: () => d.children && d.children[0],
		}[e.key];
		if (next) {
			setCurrent(next() || d);
		} else if (e.key === 'Enter') {
			chart.zoomTo(d);
		} else if (e.key === 'Escape') {
			chart.resetZoom();
		} else {
			return;
		}
		e.preventDefault();
		e.stopPropagation();
	});

	let timer = 0;
	const observer = new ResizeObserver(() => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			if (root && Math.abs(host.clientWidth - 2 - width) > 4) {
				make();
			}
		}, 120);
	});
	observer.observe(host);

	return {
		element: box,
		setTree(answer, how = {}) {
			difference = Boolean(how.difference);
			root = treeOf(answer.nodes, difference);
			zoomedTo = null;
			make();
			if (how.path && how.path.length) {
				/* The tree was asked for anew below a frame: that one fills the width again. */
				let at = top();
				for (const frame of how.path) {
					const child = (at.children || []).find((c) => pathOf(c).at(-1) === frame);
					if (!child) {
						break;
					}
					at = child;
				}
				if (at.parent) {
					const told = use.zoomed;
					use.zoomed = () => {};
					chart.zoomTo(at);
					use.zoomed = told;
				}
			}
			if (pattern) {
				use.found(matched(root, pattern));
			}
		},
		search(text) {
			pattern = searchPattern(text);
			if (root) {
				chart.update();
				use.found(pattern ? matched(root, pattern) : null);
			}
		},
		setDark(value) {
			dark = value;
			if (root) {
				chart.update();
			}
		},
		resetZoom() {
			if (chart) {
				chart.resetZoom();
			}
		},
		destroy() {
			observer.disconnect();
			clearTimeout(timer);
			box.remove();
			spoken.remove();
		},
	};
}
