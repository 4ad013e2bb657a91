// SPDX-License-Identifier: MIT
// What every component needs of preact, in one place. html`<div>${text}</div>`: texts are texts, never markup.
import { h, render, Fragment } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback } from 'preact/hooks';
import { signal, computed, effect, batch } from '@preact/signals';
import htm from 'htm';

export const html = htm.bind(h);
export { h, render, Fragment, useEffect, useLayoutEffect, useMemo, useRef, useState, useCallback, signal, computed, effect, batch };

// <style> elements of libraries carry this, or the content security policy refuses them.
export const nonce = document.querySelector('meta[name=style-nonce]')?.content ?? '';

// The width and height of an element, while it is there.
export function useSize(ref) {
	const [size, setSize] = useState({ width: 0, height: 0 });
	useLayoutEffect(() => {
		const e = ref.current;
		if (!e) {
			return undefined;
		}
		const measure = () => {
			const r = e.getBoundingClientRect();
			setSize((old) => (old.width === Math.floor(r.width) && old.height === Math.floor(r.height) ? old : { width: Math.floor(r.width), height: Math.floor(r.height) }));
		};
		const o = new ResizeObserver(measure);
		o.observe(e);
		measure();
		return () => o.disconnect();
	}, []);
	return size;
}
