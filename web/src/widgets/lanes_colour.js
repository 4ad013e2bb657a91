/* SPDX-License-Identifier: MIT
 *
 * Colours of lanes. A process has the same colour on every page and in every trace: it comes from its name. States of
 * threads differ by pattern and by height too, for those who do not tell colours apart. */

function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) {
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	}
	h ^= h >>> 15;
	h = Math.imul(h, 0x2c1b3c6d);
	return (h ^ (h >>> 12)) >>> 0;
}

const HUES = [205, 28, 145, 265, 340, 175, 48, 300, 95, 230, 12, 190];

/* Light enough for dark text in both themes. */
export function nameColour(name, dark) {
	const h = hash(name || '');
	const hue = HUES[h % HUES.length] + (((h >>> 8) % 3) - 1) * 6;
	const deep = (h >>> 16) % 2;
	return dark ? `hsl(${hue} ${deep ? 48 : 42}% ${deep ? 58 : 66}%)` : `hsl(${hue} ${deep ? 58 : 62}% ${deep ? 66 : 76}%)`;
}

export const STATE_NAMES = ['unknown', 'running', 'ready', 'waiting', 'idle'];

export function themeColours(dark) {
	return dark
		? { back: '#14171c', stripe: '#191d23', line: '#2b313a', group: '#20252d', text: '#e6e9ee', faint: '#9aa4b2',
		    running: '#2fbf8f', ready: '#f0b03c', waiting: '#6f8fc4', waitingBack: '#232c3d', idle: '#3a424e',
		    onFill: '#10131a', loss: '#ff5d5d', accent: '#6cb2ff', area: 'rgb(108 178 255 / 18%)', mark: '#f0b03c',
		    counter: '#4aa3df', counterFill: 'rgb(74 163 223 / 35%)', queue: '#c59bff', queueFill: 'rgb(197 155 255 / 35%)' }
		: { back: '#ffffff', stripe: '#f7f8fa', line: '#dfe3e8', group: '#eef1f5', text: '#1b1f24', faint: '#59636e',
		    running: '#0a8a63', ready: '#d98200', waiting: '#5b78ad', waitingBack: '#e4eaf5', idle: '#cdd3db',
		    onFill: '#10131a', loss: '#d1242f', accent: '#0b63c4', area: 'rgb(11 99 196 / 13%)', mark: '#b35900',
		    counter: '#1f77b4', counterFill: 'rgb(31 119 180 / 30%)', queue: '#7b4fc0', queueFill: 'rgb(123 79 192 / 28%)' };
}

function tile(size, draw) {
	const c = document.createElement('canvas');
	c.width = size;
	c.height = size;
	draw(c.getContext('2d'), size);
	return c;
}

function stripes(colour, back, size, thick) {
	return tile(size, (g) => {
		if (back) {
			g.fillStyle = back;
			g.fillRect(0, 0, size, size);
		}
		g.strokeStyle = colour;
		g.lineWidth = thick;
		for (const by of [-size, 0, size]) {
			g.beginPath();
			g.moveTo(by, size);
			g.lineTo(by + size, 0);
			g.stroke();
		}
	});
}

/* The patterns of a theme, for one canvas. */
export function patterns(g, colours) {
	const dots = tile(6, (d) => {
		d.fillStyle = colours.waitingBack;
		d.fillRect(0, 0, 6, 6);
		d.fillStyle = colours.waiting;
		d.fillRect(1, 2, 2, 2);
	});
	return {
		ready: g.createPattern(stripes(colours.ready, null, 6, 2.2), 'repeat'),
		waiting: g.createPattern(dots, 'repeat'),
		loss: g.createPattern(stripes(colours.loss, null, 8, 2), 'repeat'),
	};
}
