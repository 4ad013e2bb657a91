// SPDX-License-Identifier: MIT
// What the checks of exports share: dump's events, and comparing a sample of them.
import { createRequire } from "node:module";
import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import path from "node:path";

// The packages are in the build directory (tests/exports/install).
const require = createRequire(path.join(process.env.EXPORT_MODULES, "node_modules", "x.js"));
export const load = require;

export function fail(text) {
	console.error("FAIL: " + text);
	process.exit(1);
}

// Every event of "openetw dump --json".
export async function dump(file) {
	const events = [];
	for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
		events.push(JSON.parse(line));
	}
	return events;
}

// "2020-07-29T00:06:19.8170503Z" in units of 100 ns since 1970.
export function ticks(time) {
	const [whole, part] = time.replace("Z", "").split(".");
	return BigInt(Date.parse(whole + "Z")) * 10000n + BigInt((part ?? "0").padEnd(7, "0"));
}

// The first, the last and 100 others, the same in each run.
export function sample(n) {
	const chosen = new Set([0, n - 1]);
	for (let seed = 1, i = 0; i < 100 && n > 2; i++) {
		seed = (seed * 48271) % 2147483647;
		chosen.add(seed % n);
	}
	return [...chosen].filter((i) => i >= 0 && i < n);
}

export function same(what, got, wanted) {
	const g = JSON.stringify(got), w = JSON.stringify(wanted);
	if (g !== w) {
		fail(`${what}: got ${g?.slice(0, 400)}, wanted ${w?.slice(0, 400)}`);
	}
}

export function fields(event) {
	const { meta, ...rest } = event;
	return rest;
}

export function missed(summary, pattern) {
	return summary.notRepresented.filter((m) => m.what.includes(pattern)).reduce((n, m) => n + m.count, 0);
}

// A message of tests/exports/proto/FILE.
export function message(file, name) {
	const protobuf = load("protobufjs");
	const root = protobuf.parse(readFileSync(new URL("proto/" + file, import.meta.url), "utf8"), { keepCase: true }).root;
	return root.lookupType(name);
}
