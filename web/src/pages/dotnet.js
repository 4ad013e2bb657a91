// SPDX-License-Identifier: MIT
// .NET: collections and compiled methods.
import { html } from '../ui.js';
import { TablePage } from './tablepage.js';

const views = [
	{ id: 'gc', title: 'Garbage collections', table: 'gc', by: [['process and generation', 'process_name,pid,generation,type', 'count,sum(pause),p50(pause),p99(pause),max(pause),max(duration)'], ['reason', 'process_name,generation,reason', 'count,sum(pause),p99(pause),max(pause)']], rows: 'start,pause,duration,process_name,pid,number,generation,reason,type,pauses', sort: 'pause', one: 'collection', example: 'pause > 10ms' },
	{ id: 'jit', title: 'Compiled methods', table: 'jit', by: [['process', 'process_name,pid', 'count,sum(duration),p99(duration),max(duration),sum(il_bytes),sum(native_bytes)'], ['method', 'process_name,method', 'count,sum(duration),max(duration),sum(native_bytes)']], rows: 'start,duration,process_name,pid,method,signature,il_bytes,native_bytes', sort: 'duration', one: 'method', example: 'duration > 1ms' },
];

export default function DotNet() {
	return html`<${TablePage} title=".NET" views=${views} />`;
}
