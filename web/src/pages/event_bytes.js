// SPDX-License-Identifier: MIT
// Which bytes of a payload are which field. Fields stand behind one another without gaps, so the lengths that their types have tell
// it; where a type does not tell its length, or the lengths do not add up to the payload, nobody is told anything.

const fixed = { 3: 1, 4: 1, 5: 2, 6: 2, 7: 4, 8: 4, 9: 8, 10: 8, 11: 4, 12: 8, 13: 4, 15: 16, 17: 8, 18: 16, 20: 4, 21: 8 }; // TDH_INTYPE_*
const UNICODE = 1, ANSI = 2, POINTER = 16, SID = 19, COUNTED = new Set([22, 23, 25, 300, 301]), WBEM_SID = 310;
const whole = new Set([3, 4, 5, 6, 7, 8, 9, 10]);

// { fields: [{ name, in_type, value }], bytes, hex } → [{ from, to }] of each field, or [].
export function placesOf(event) {
	for (const pointer of [8, 4]) {
		const places = lay(event, pointer);
		if (places) {
			return places;
		}
	}
	return [];
}

function lay({ fields, bytes, hex }, pointer) {
	if (hex.length !== 2 * bytes) {
		return null;
	}
	const byte = (i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16);
	const places = [];
	let at = 0;
	for (const f of fields) {
		let n = fixed[f.in_type] ?? (f.in_type === POINTER ? pointer : 0);
		if (f.in_type === SID && at + 2 <= bytes) {
			n = 8 + 4 * byte(at + 1);
		} else if (f.in_type === WBEM_SID && at + 2 * pointer + 2 <= bytes) { // behind two pointers, or four zeros for none
			n = byte(at) || byte(at + 1) || byte(at + 2) || byte(at + 3) || f.value !== '' ? 2 * pointer + 8 + 4 * byte(at + 2 * pointer + 1) : 4;
		} else if (COUNTED.has(f.in_type) && at + 2 <= bytes) {
			n = 2 + byte(at) + 256 * byte(at + 1);
		} else if (f.in_type === UNICODE || f.in_type === ANSI) {
			const step = f.in_type === UNICODE ? 2 : 1;
			let end = at;
			while (end + step <= bytes && (byte(end) || (step === 2 && byte(end + 1)))) {
				end += step;
			}
			n = Math.min(bytes, end + step) - at;
		}
		if (n <= 0 || at + n > bytes || (whole.has(f.in_type) && /^-?\d+$/.test(f.value) && !holds(byte, at, n, f.value))) {
			return null;
		}
		places.push({ from: at, to: at + n });
		at += n;
	}
	return at === bytes ? places : null;
}

// A whole number is there as its text says.
function holds(byte, at, n, text) {
	let v = 0n;
	for (let i = n - 1; i >= 0; i--) {
		v = (v << 8n) | BigInt(byte(at + i));
	}
	return BigInt.asUintN(8 * n, BigInt(text)) === v;
}
