// SPDX-License-Identifier: MIT
// perfetto.mjs TRACE DUMP SUMMARY: protobufjs decodes the trace, and what is in it is what dump says.
import { readFileSync } from "node:fs";
import { dump, fail, fields, load, message, missed, sample, same, ticks } from "./lib.mjs";

const [file, dumped, summaryFile] = process.argv.slice(2);
const Packet = message("perfetto.proto", "perfetto.protos.TracePacket");
const { Reader } = load("protobufjs");
const summary = JSON.parse(readFileSync(summaryFile, "utf8"));
const wanted = await dump(dumped);

const tables = {
	event_categories: new Map(), event_names: new Map(), debug_annotation_names: new Map(), function_names: new Map(),
	frames: new Map(), callstacks: new Map(), mapping_paths: new Map(), mappings: new Map(),
};
const tracks = new Map(), got = [];
let cleared = false, clocks = false, depth = new Map(), last = new Map(), counters = 0;

function lookUp(table, id) {
	const found = tables[table].get(Number(id));
	return found ?? fail(`${table} ${id} is used before it is told`);
}
function value(a) {
	if (a.dict_entries?.length) {
		return Object.fromEntries(a.dict_entries.map((m) => [lookUp("debug_annotation_names", m.name_iid).name, value(m)]));
	}
	if (a.array_values?.length) {
		return a.array_values.map(value);
	}
	for (const k of ["bool_value", "string_value", "double_value"]) {
		if (Object.hasOwn(a, k)) {
			return a[k];
		}
	}
	for (const k of ["uint_value", "int_value", "pointer_value"]) {
		if (Object.hasOwn(a, k)) {
			return Number(a[k].toString());
		}
	}
	return null;
}
function stack(id) {
	return Number(id) ? lookUp("callstacks", id).frame_ids.map((f) => {
		const frame = lookUp("frames", f);
		if (Number(frame.mapping_id)) {
			const m = lookUp("mappings", frame.mapping_id);
			m.path_string_ids.forEach((s) => lookUp("mapping_paths", s));
			if (BigInt(m.start.toString()) + BigInt(frame.rel_pc.toString()) >= BigInt(m.end.toString())) {
				fail("a frame lies outside its mapping");
			}
		}
		return lookUp("function_names", frame.function_name_id).str.toString();
	}) : [];
}
function threadOf(track) {
	for (let t = tracks.get(track); t; t = tracks.get(String(t.parent_uuid))) {
		if (t.thread || t.process) {
			return t.thread ?? { pid: t.process.pid };
		}
	}
	return {};
}

const reader = Reader.create(readFileSync(file));
while (reader.pos < reader.len) {
	if (reader.uint32() !== (1 << 3 | 2)) {
		fail("something else than packets at " + reader.pos);
	}
	const p = Packet.decode(reader, reader.uint32());
	if (p.sequence_flags & 1) {
		cleared = true;
	}
	clocks ||= p.clock_snapshot?.clocks.length === 3;
	for (const [name, table] of Object.entries(tables)) {
		for (const entry of p.interned_data?.[name] ?? []) {
			if (!cleared || table.has(Number(entry.iid))) {
				fail(`${name} ${entry.iid} is told twice, or too early`);
			}
			table.set(Number(entry.iid), entry);
		}
	}
	if (p.track_descriptor) {
		tracks.set(String(p.track_descriptor.uuid), p.track_descriptor);
	}
	const time = (BigInt(p.timestamp.toString()) / 100n).toString();
	if (p.track_event) {
		const e = p.track_event, track = String(e.track_uuid);
		if (!tracks.has(track)) {
			fail("an event is on a track that nobody described");
		}
		if (e.type === 4) {
			counters++;
			if (!tracks.get(track).counter) {
				fail("a value is on a track that is no counter");
			}
			continue;
		}
		const d = (depth.get(track) ?? 0) + (e.type === 1 ? 1 : e.type === 2 ? -1 : 0);
		if (d < 0) {
			fail("a slice ends that did not begin");
		}
		depth.set(track, d);
		const own = {}, etw = {};
		for (const a of e.debug_annotations) {
			const name = lookUp("debug_annotation_names", a.name_iid).name;
			(name.startsWith("etw.") ? etw : own)[name] = value(a);
		}
		got.push({ time, kind: "event", provider: lookUp("event_categories", e.category_iids[0]).name, type: e.type,
			name: lookUp("event_names", e.name_iid).name, fields: own, etw, who: threadOf(track), stack: stack(e.callstack_iid) });
	}
	if (p.perf_sample) {
		got.push({ time, kind: "sample", who: p.perf_sample, stack: stack(p.perf_sample.callstack_iid) });
	}
	for (const e of p.ftrace_events?.event ?? []) {
		const t = BigInt(e.timestamp.toString()) / 100n;
		if (t < (last.get(p.ftrace_events.cpu) ?? 0n)) {
			fail("events of a processor are not in order");
		}
		last.set(p.ftrace_events.cpu, t);
		got.push({ time: t.toString(), kind: e.sched_switch ? "switch" : "waking", cpu: p.ftrace_events.cpu, e });
	}
}
if (!cleared || !clocks) {
	fail("no packet says where the sequence begins, or what the clocks are");
}

// Everything is there, but what the summary says is not.
const kinds = { "Thread/CSwitch": "switch", "Thread/ReadyThread": "waking", "PerfInfo/SampleProf": "sample" };
const kernel = (w) => w.meta.providerGuid === undefined && w.meta.provider === "MSNT_SystemTrace";
const left = wanted.filter((w) => !(w.meta.event.startsWith("StackWalk/") && kernel(w)) &&
	!(kinds[w.meta.event] === "sample" && (!w.meta.pid || !w.meta.tid)));
same("written", summary.eventsWritten, got.length);
same("events", got.length, left.length);
same("records of stacks", missed(summary, "records of call stacks") + missed(summary, "idle processors"), wanted.length - left.length);

// One key each of time and kind; several events may have the same time.
const byTime = new Map();
for (const g of got) {
	byTime.set(g.time, [...(byTime.get(g.time) ?? []), g]);
}
const plain = (o) => JSON.parse(JSON.stringify(o));
for (const i of sample(left.length)) {
	const w = left[i], kind = kernel(w) ? kinds[w.meta.event] ?? "event" : "event";
	const at = (byTime.get(ticks(w.meta.time).toString()) ?? []).filter((g) => g.kind === kind);
	const fits = at.some((g) => {
		switch (kind) {
		case "switch":
			return g.cpu === w.meta.cpu && g.e.sched_switch.next_pid === w.NewThreadId && g.e.sched_switch.prev_pid === w.OldThreadId;
		case "waking":
			return g.cpu === w.meta.cpu && g.e.sched_waking.pid === w.TThreadId;
		case "sample":
			return g.who.cpu === w.meta.cpu && g.who.pid === w.meta.pid && g.who.tid === w.meta.tid &&
				(w.meta.stack ? g.stack.length === Math.min(w.meta.stack.length, 192) : g.stack.length === 1);
		default: {
			const name = g.type === 1 ? w.meta.event.replace(/\/?start$/i, "") : w.meta.event;
			const pid = !w.meta.pid || g.who.pid === w.meta.pid, tid = !w.meta.tid || !w.meta.pid || !g.who.tid || g.who.tid === w.meta.tid;
			const compare = (k) => JSON.stringify(plain(k), (_, v) => Array.isArray(v) && v.length === 0 ? null :
				v && typeof v === "object" && Object.keys(v).length === 0 ? null : v);
			return g.provider === w.meta.provider && g.name === name && pid && tid &&
				compare(g.fields) === compare(fields(w)) && g.stack.length === Math.min(w.meta.stack?.length ?? 0, 192);
		}
		}
	});
	if (!fits) {
		fail(`event ${i} (${JSON.stringify(w).slice(0, 600)}) is not there; at its time are ${JSON.stringify(at).slice(0, 1500)}`);
	}
}
console.log(`${got.length} events, ${tracks.size} tracks, ${counters} values of counters`);
