// SPDX-License-Identifier: MIT
// openetw mcp and the client of the SDK's second line, which speaks version 2026-07-28 of the protocol and finds out who
// does not.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [openetw, corpus] = process.argv.slice(2);
for (const [mode, version] of [[{ pin: '2026-07-28' }, '2026-07-28'], ['auto', '2026-07-28'], ['legacy', '2025-11-25']]) {
	const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode } });
	await client.connect(new StdioClientTransport({
		command: openetw, args: ['mcp', `${corpus}/perfview/primitive-types.etl`], env: { ...process.env }, stderr: 'inherit',
	}));
	assert.equal(client.getServerVersion().name, 'openetw');
	assert.equal(client.getNegotiatedProtocolVersion(), version);
	assert.ok((await client.listTools()).tools.length >= 12);
	const found = await client.callTool({ name: 'find_events', arguments: { limit: 2 } });
	assert.equal(found.structuredContent.matched, 5);
	const wrong = await client.callTool({ name: 'find_events', arguments: { limt: 2 } });
	assert.ok(wrong.isError && /did you mean 'limit'/.test(wrong.content[0].text));
	await assert.rejects(client.callTool({ name: 'find_event', arguments: {} }), /did you mean 'find_events'/);
	const { resources } = await client.listResources();
	assert.equal(resources[0].name, 'primitive-types.etl');
	assert.equal(JSON.parse((await client.readResource({ uri: resources[0].uri })).contents[0].text).matched, 5);
	await assert.rejects(client.readResource({ uri: 'openetw:///no.etl' }), /there is no trace/);
	assert.ok((await client.listPrompts()).prompts.some((p) => p.name === 'what-went-wrong'));
	assert.match((await client.getPrompt({ name: 'who-used-the-cpu' })).messages[0].content.text, /processors/);
	await client.close();
}
console.log('versions 2026-07-28 and 2025-11-25');
