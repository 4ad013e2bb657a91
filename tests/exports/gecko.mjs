// SPDX-License-Identifier: MIT
// gecko.mjs PROFILE DUMP SUMMARY: the rules of Gecko's format, version 31, and the events of dump.
// Rules: firefox-devtools/profiler, docs-developer/gecko-profile-format.md and src/types/gecko-profile.ts.
import { readFileSync } from "node:fs";
import { dump, fail, fields, missed, sample, same, ticks } from "./lib.mjs";

const [file, dumped, summaryFile] = process.argv.slice(2);
const summary = JSON.parse(readFileSync(summaryFile, "utf8"));
const profile = JSON.parse(readFileSync(file, "utf8"));
const wanted = await dump(dumped);
const must = (ok, text) => ok || fail(text);
const whole = (v, end) => Number.isInteger(v) && v >= 0 && v < end;

const { meta } = profile;
same("version", meta.version, 31);
for (const key of ["startTime", "interval", "stackwalk", "debug", "gcpoison", "asyncstack", "processType"]) {
	must(typeof meta[key] === "number", `meta.${key}`);
}
must(meta.shutdownTime === null && meta.presymbolicated === true, "meta");
meta.categories.forEach((c) => must(typeof c.name === "string" && typeof c.color === "string" &&
	c.subcategories.length && c.subcategories.every((s) => typeof s === "string"), "a category"));
const schemas = new Map(meta.markerSchema.map((s) => [s.name, new Set(s.data.map((d) => d.key))]));
for (const key of ["libs", "pages", "pausedRanges", "processes", "threads"]) {
	must(Array.isArray(profile[key]), key);
}
const is = (table, columns) => same("schema", table.schema, Object.fromEntries(columns.map((c, i) => [c, i])));
const got = [], start = Math.round(meta.startTime * 1e4);
for (const t of profile.threads) {
	must(typeof t.name === "string" && typeof t.processName === "string" && Number.isInteger(t.pid) && Number.isInteger(t.tid) &&
		typeof t.registerTime === "number" && t.processType === "default", "a thread");
	is(t.samples, ["stack", "time", "eventDelay"]);
	is(t.markers, ["name", "startTime", "endTime", "phase", "category", "data"]);
	is(t.frameTable, ["location", "relevantForJS", "innerWindowID", "implementation", "line", "column", "category", "subcategory"]);
	is(t.stackTable, ["prefix", "frame"]);
	must(t.stringTable.every((s) => typeof s === "string") && new Set(t.stringTable).size === t.stringTable.length, "strings");
	for (const [location, js, , , , , category] of t.frameTable.data) {
		must(whole(location, t.stringTable.length) && js === false && whole(category, meta.categories.length), "a frame");
	}
	t.stackTable.data.forEach(([prefix, frame], i) =>
		must((prefix === null || whole(prefix, i)) && whole(frame, t.frameTable.data.length), "a stack"));
	const depth = [];
	t.stackTable.data.forEach(([prefix], i) => (depth[i] = prefix === null ? 1 : depth[prefix] + 1));
	let before = -Infinity;
	for (const [stack, time] of t.samples.data) {
		must(stack === null || whole(stack, t.stackTable.data.length), "a sample's stack");
		must(time >= before, "samples are not in order");
		before = time;
		got.push({ time, kind: "sample", pid: t.pid, tid: t.tid, depth: stack === null ? 0 : depth[stack] });
	}
	for (const [name, from, to, phase, category, data] of t.markers.data) {
		must(whole(name, t.stringTable.length) && whole(category, meta.categories.length), "a marker");
		must([0, 2, 3].includes(phase) && (phase === 3 ? from === null && typeof to === "number" : typeof from === "number" && to === null), "a phase");
		must(Object.keys(data).every((k) => k === "type" || k === "stack" || schemas.get(data.type).has(k)), "a marker's data");
		const stack = data.stack?.samples.data[0][0];
		must(stack === undefined || whole(stack, t.stackTable.data.length), "a marker's stack");
		got.push({ time: from ?? to, kind: "marker", pid: t.pid, tid: t.tid, name: t.stringTable[name], event: data.event,
			fields: JSON.parse(data.fields), depth: stack === undefined ? 0 : depth[stack] });
	}
}

const kernel = (w) => w.meta.provider === "MSNT_SystemTrace";
const isSample = (w) => kernel(w) && w.meta.event === "PerfInfo/SampleProf";
const left = wanted.filter((w) => !(kernel(w) && (/^StackWalk\//.test(w.meta.event) ||
	["Thread/CSwitch", "Thread/ReadyThread"].includes(w.meta.event) || (isSample(w) && !(w.meta.pid && w.meta.tid)))));
same("written", summary.eventsWritten, got.length);
same("events", got.length, left.length);
same("left out", missed(summary, ""), wanted.length - left.length);
const byTime = new Map();
for (const g of got) {
	const key = Math.round(g.time * 1e4);
	byTime.set(key, [...(byTime.get(key) ?? []), g]);
}
for (const i of sample(left.length)) {
	const w = left[i], at = byTime.get(Number(ticks(w.meta.time) - BigInt(start))) ?? [];
	const unknown = 2 ** 32 - 1;
	const fits = at.some((g) => (g.kind === "sample") === isSample(w) && g.pid === (w.meta.pid ?? unknown) && g.tid === (w.meta.tid ?? unknown) &&
		(isSample(w) ? g.depth === Math.min(w.meta.stack?.length ?? 1, 192)
			: g.event === w.meta.event && g.name.startsWith(w.meta.provider + "/") && g.depth === Math.min(w.meta.stack?.length ?? 0, 192) &&
			JSON.stringify(g.fields) === JSON.stringify(fields(w))));
	if (!fits) {
		fail(`event ${i} (${JSON.stringify(w).slice(0, 600)}) is not there; at its time are ${JSON.stringify(at).slice(0, 1500)}`);
	}
}
console.log(`${got.length} samples and markers of ${profile.threads.length} threads`);
