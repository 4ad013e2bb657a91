// SPDX-License-Identifier: MIT
// [ and ]: the event before and behind this place that fits what is highlighted (else a warning or an error).
import { get } from '../api.js';
import { selection, kept, keep, toast, page, go } from '../state.js';

export async function stepMatch(back) {
	const g = kept('hl', 'level in 1..3');
	const from = Number(kept('at', back ? 0 : -1)) + (back ? 0 : 1);
	try {
		const a = await get('find', { ...selection.value, g, from: Math.max(0, from), back });
		if (a.position === null) {
			toast(`No ${back ? 'earlier' : 'later'} event fits ${g}`, 'info');
		} else if (page.value === 'events') {
			keep('at', a.position);
		} else {
			go({ page: 'events', extra: { at: a.position, hl: kept('hl', '') } });
		}
	} catch (e) {
		toast(e.message);
	}
}
