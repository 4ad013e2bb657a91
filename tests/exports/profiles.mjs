// SPDX-License-Identifier: MIT
// profiles.mjs KIND PROFILE DUMP SUMMARY: stacks and their counts are those of dump.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { dump, fail, load, missed, same } from "./lib.mjs";

const [kind, file, dumped, summaryFile] = process.argv.slice(2);
const summary = JSON.parse(readFileSync(summaryFile, "utf8"));
const wanted = await dump(dumped);
const own = new Map(); // "process;outer;inner" -> count
const add = (map, key, n) => map.set(key, (map.get(key) ?? 0) + n);

if (kind === "pprof") {
	const { Profile } = load("pprof-format");
	const p = Profile.decode(gunzipSync(readFileSync(file)));
	const text = (i) => p.stringTable.strings[Number(i)];
	same("the first string", text(0), "");
	same("type", p.sampleType.map((t) => text(t.unit)), ["count"]);
	const functions = new Map(p.function.map((f) => [Number(f.id), text(f.name)]));
	const mappings = new Map(p.mapping.map((m) => [Number(m.id), text(m.filename)]));
	const locations = new Map(p.location.map((l) => [Number(l.id), l]));
	for (const s of p.sample) {
		const stack = s.locationId.map((id) => {
			const l = locations.get(Number(id)), name = functions.get(Number(l.line[0].functionId));
			if (Number(l.mappingId) && !name.startsWith(mappings.get(Number(l.mappingId)) + "!")) {
				fail(`${name} is not of its mapping`);
			}
			return name;
		});
		const process = s.label.find((l) => text(l.key) === "process");
		add(own, [text(process.str), ...stack.reverse()].join(";"), Number(s.value[0]));
	}
} else if (kind === "folded") {
	for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
		const at = line.lastIndexOf(" ");
		add(own, line.slice(0, at), Number(line.slice(at + 1)));
	}
} else {
	const p = JSON.parse(readFileSync(file, "utf8"));
	// By the schema that speedscope ships.
	const schema = JSON.parse(readFileSync(load.resolve("speedscope/package.json").replace("package.json",
		"dist/release/file-format-schema.json"), "utf8"));
	const check = (s, v, where) => {
		if (s.$ref) {
			return check(schema.definitions[s.$ref.replace("#/definitions/", "")], v, where);
		}
		if (s.anyOf) {
			return s.anyOf.some((a) => check(a, v, where) === null) ? null : `${where}: fits none`;
		}
		const type = Array.isArray(v) ? "array" : v === null ? "null" : typeof v;
		const types = [s.type].flat().filter(Boolean);
		if (types.length && !types.includes(type) && !(type === "number" && types.includes("integer"))) {
			return `${where}: ${type}`;
		}
		if (s.enum && !s.enum.includes(v)) {
			return `${where}: ${v}`;
		}
		for (const r of s.required ?? []) {
			if (!(r in v)) {
				return `${where}: no ${r}`;
			}
		}
		for (const [k, inner] of Object.entries(s.properties ?? {})) {
			const wrong = k in v ? check(inner, v[k], `${where}.${k}`) : null;
			if (wrong) {
				return wrong;
			}
		}
		return s.items && type === "array" ? v.map((e, i) => check(s.items, e, `${where}[${i}]`)).find(Boolean) ?? null : null;
	};
	const wrong = check(schema, p, "profile");
	if (wrong) {
		fail(wrong);
	}
	const [{ samples, weights, endValue }] = p.profiles;
	same("weights", samples.length, weights.length);
	same("end", weights.reduce((a, b) => a + b, 0), endValue);
	samples.forEach((s, i) => add(own, s.map((f) => p.shared.frames[f].name).join(";"), weights[i]));
}

const sampleEvent = (w) => w.meta.provider === "MSNT_SystemTrace" && w.meta.event === "PerfInfo/SampleProf";
const idle = wanted.filter((w) => sampleEvent(w) && !(w.meta.pid && w.meta.tid)).length;
const samples = wanted.filter((w) => sampleEvent(w) && w.meta.pid && w.meta.tid);
const stacked = wanted.filter((w) => !sampleEvent(w) && w.meta.stack);
const of = samples.length ? samples : stacked;
const total = [...own.values()].reduce((a, b) => a + b, 0);
same("written", summary.eventsWritten, total);
same("stacks", total, of.length);
same("idle", missed(summary, "idle"), idle);

// How many of each process, and how deep their stacks are.
const counts = new Map(), got = new Map(), tail = samples.length ? 0 : 1;
for (const w of of) {
	add(counts, `${w.meta.process ?? "?"} (${w.meta.pid}) ${Math.min(w.meta.stack?.length ?? 1, 192)}`, 1);
}
for (const [line, n] of own) {
	const parts = line.split(";");
	add(got, `${parts[0]} ${parts.length - 1 - tail}`, n);
}
const list = (m) => [...m].map(([k, n]) => `${k} ${n}`).sort();
same("stacks by process and depth", list(got), list(counts));
if (!samples.length) {
	const names = (m) => [...m].map(([k, n]) => `${k} ${n}`).sort();
	const a = new Map(), b = new Map();
	of.forEach((w) => add(a, `${w.meta.provider}/${w.meta.event}`, 1));
	own.forEach((n, line) => add(b, line.slice(line.lastIndexOf(";") + 1), n));
	same("events", names(b), names(a));
}
console.log(`${total} stacks, ${own.size} different`);
