// SPDX-License-Identifier: MIT
// Two answers of /api/stacks as one tree for a flame graph in its difference mode: nodes [parent, name, module, self, total, a, b].
// A frame is as wide as both sides together, so that what is on one side only is seen, too. `scale`: what the numbers of each side
// are multiplied by.
export function differenceOf(a, b, scale = [1, 1]) {
	const nodes = [[-1, 'all', null, 0, 0, 0, 0]];
	const children = [new Map()];
	[a, b].forEach((side, which) => {
		const at = new Uint32Array(side.nodes.length);
		side.nodes.forEach(([parent, name, module, self, total], i) => {
			if (i > 0) {
				const up = at[parent], key = `${module ?? ''}\n${name}`;
				let n = children[up].get(key);
				if (n === undefined) {
					n = nodes.length;
					nodes.push([up, name, module, 0, 0, 0, 0]);
					children.push(new Map());
					children[up].set(key, n);
				}
				at[i] = n;
			}
			const node = nodes[at[i]];
			node[3] += self * scale[which];
			node[4] += total * scale[which];
			node[5 + which] += total * scale[which];
		});
	});
	/* Without its process and number a program is the same on both sides only by chance: see `processes` of /api/stacks. */
	return { unit: b.unit, total: nodes[0][4], nodes, cut: 0, left: (a.cut ?? 0) + (b.cut ?? 0), sides: [nodes[0][5], nodes[0][6]] };
}
