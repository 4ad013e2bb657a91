// SPDX-License-Identifier: MIT
// otlp.mjs otlp|otlp-json FILE DUMP SUMMARY: the log records are the events of dump.
import { readFileSync } from "node:fs";
import { dump, fail, fields, message, missed, sample, same, ticks } from "./lib.mjs";

const [kind, file, dumped, summaryFile] = process.argv.slice(2);
const summary = JSON.parse(readFileSync(summaryFile, "utf8"));
const wanted = await dump(dumped);

// JSON in OTLP's rules becomes what protobufjs gives.
const snake = (s) => s.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase());
function plain(v) {
	return Array.isArray(v) ? v.map(plain) : v && typeof v === "object"
		? Object.fromEntries(Object.entries(v).map(([k, i]) => [snake(k), plain(i)])) : v;
}
function value(a) {
	if (a?.kvlist_value) {
		return Object.fromEntries((a.kvlist_value.values ?? []).map((p) => [p.key, value(p.value)]));
	}
	if (a?.array_value) {
		return (a.array_value.values ?? []).map(value);
	}
	return a?.string_value ?? a?.bool_value ?? (a?.int_value != null ? Number(a.int_value) : a?.double_value ?? null);
}
const list = (attributes) => Object.fromEntries((attributes ?? []).map((p) => [p.key, value(p.value)]));

const requests = [];
if (kind === "otlp") {
	const type = message("otlp.proto", "otlp.ExportLogsServiceRequest");
	requests.push(type.toObject(type.decode(readFileSync(file)), { longs: String }));
} else {
	for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
		const r = JSON.parse(line);
		same("members", Object.keys(r), ["resourceLogs"]);
		requests.push(plain(r));
	}
}
const got = [];
for (const r of requests.flatMap((r) => r.resource_logs)) {
	const resource = list(r.resource.attributes);
	for (const s of r.scope_logs) {
		for (const l of s.log_records) {
			got.push({ time: BigInt(l.time_unix_nano) / 100n, resource, scope: s.scope.name, name: l.event_name,
				severity: l.severity_number ?? 0, attributes: l.attributes });
		}
	}
}
same("written", summary.eventsWritten, got.length);
same("events", got.length, wanted.length);
const severities = [0, 21, 17, 13, 9, 5];
for (const i of sample(wanted.length)) {
	const w = wanted[i], g = got[i], own = {}, etw = {};
	const names = Object.keys(fields(w));
	g.attributes.forEach((p, n) => ((n < names.length ? own : etw)[p.key] = value(p.value)));
	same(`time of ${i}`, g.time.toString(), ticks(w.meta.time).toString());
	same(`name of ${i}`, [g.scope, g.name], [w.meta.provider, w.meta.provider + "/" + w.meta.event]);
	same(`process of ${i}`, [g.resource["process.pid"], g.resource["process.executable.name"]], [w.meta.pid, w.meta.process]);
	same(`fields of ${i}`, own, fields(w));
	same(`meta of ${i}`, [etw["thread.id"], etw["etw.id"], etw["etw.version"], etw["etw.opcode"], etw["etw.cpu"], etw["etw.activity"]],
		[w.meta.tid, w.meta.id ?? 0, w.meta.version ?? 0, w.meta.opcode ?? 0, w.meta.cpu, w.meta.activity]);
	same(`severity of ${i}`, g.severity, severities[w.meta.level ?? 0] ?? 1);
}
console.log(`${got.length} records in ${requests.length} requests`);
