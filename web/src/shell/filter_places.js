// SPDX-License-Identifier: MIT
// The server counts bytes of UTF-8, an editor counts units of UTF-16.
export function charsOf(text) {
	const at = [0]; // at[byte] = place in the text
	let bytes = 0, place = 0;
	for (const c of text) {
		const code = c.codePointAt(0), n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		for (let i = 0; i < n; i++) {
			at[bytes + i] = place;
		}
		bytes += n;
		place += c.length;
	}
	at[bytes] = place;
	return (byte) => at[Math.max(0, Math.min(byte, bytes))];
}
