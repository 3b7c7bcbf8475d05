// A session of the TypeScript SDK's client: `session.mjs stdio|http legacy|modern`.
// Prints `ok` for each step that works, and exits with 1 at the first that does not.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [transport, era] = process.argv.slice(2);
const { PROGRAM, TMUXWRIGHT_SOCKET, TMUXWRIGHT_TMUX, TMUXWRIGHT_HTTP_TOKEN, SERVER_URL } = process.env;
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const PANE = 'tmux://panes/%250/content';

const ok = step => console.log(`ok ${step}`);

/** Makes the shell in the first pane print words. */
const printInPane = words => {
  const [first, ...others] = words.split(' ');
  // Spelled in another way, so that the echo of the command does not match.
  const command = `echo ${first}${others.map(word => `" "${word}`).join('')}`;
  execFileSync(TMUXWRIGHT_TMUX, ['-S', TMUXWRIGHT_SOCKET, 'send-keys', '-t', '%0', command, 'Enter']);
};

/** Polls until the condition holds, and returns its value. */
const until = async (condition, probe) => {
  for (const end = Date.now() + 15_000; Date.now() < end; await new Promise(done => setTimeout(done, 20))) {
    const value = probe();
    if (value) return value;
  }
  assert.fail(`timed out: ${condition}`);
};

const open = () => {
  if (transport === 'http') {
    const headers = { Authorization: `Bearer ${TMUXWRIGHT_HTTP_TOKEN}` };
    return new StreamableHTTPClientTransport(new URL(SERVER_URL), { requestInit: { headers } });
  }
  const env = { TMUXWRIGHT_SOCKET, TMUXWRIGHT_TMUX, PATH: process.env.PATH, HOME: process.env.HOME };
  return new StdioClientTransport({ command: PROGRAM, env });
};

const updated = [];
const logged = [];
const mode = era === 'modern' ? { pin: MODERN } : 'legacy';
const client = new Client({ name: 'tmuxwright-tests', version: '1' }, { versionNegotiation: { mode } });
client.setNotificationHandler('notifications/resources/updated', note => updated.push(note.params.uri));
client.setNotificationHandler('notifications/message', note => logged.push(note.params.data));

const call = async (name, args, options, meta) => {
  const result = await client.callTool({ name, arguments: args, _meta: meta }, options);
  assert.ok(!result.isError, JSON.stringify(result));
  return result.content[0].text;
};

await client.connect(open());
assert.equal(client.getNegotiatedProtocolVersion(), era === 'modern' ? MODERN : LEGACY);
ok(`connect ${client.getNegotiatedProtocolVersion()}`);

const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { resourceTemplates } = await client.listResourceTemplates();
const { prompts } = await client.listPrompts();
assert.ok(tools.some(tool => tool.name === 'run_command'));
assert.ok(resources.some(resource => resource.uri === PANE), JSON.stringify(resources));
assert.ok(resourceTemplates.some(template => template.uriTemplate === 'tmux://panes/{pane}/content'));
assert.ok(prompts.some(prompt => prompt.name === 'run_and_wait'));
ok(`list ${tools.length} tools, ${resourceTemplates.length} templates, ${prompts.length} prompts`);

const output = await call('run_command', { command: 'echo from typescript; (exit 3)' });
assert.match(output, /^exit 3[^]*from typescript/);
ok('run');

const wrong = await client.callTool({ name: 'run_command', arguments: { comand: 'true' } });
assert.ok(wrong.isError && wrong.content[0].text.includes('`command`'), JSON.stringify(wrong));
ok('mistake');

const steps = [];
const onprogress = step => {
  if (steps.push(step) === 1) printInPane('it is done');
};
const event = await call('wait_for', { target: '%0', until: ['text:it is done'], timeout: 60 }, { onprogress });
assert.ok(steps.length > 0 && event.includes('it is done'), event);
ok('wait with progress');

const giveUp = new AbortController();
const waiting = call('wait_for', { target: '%0', until: ['text:never'], timeout: 600 }, {
  signal: giveUp.signal,
  onprogress: () => giveUp.abort(),
});
await assert.rejects(waiting);
await call('list_panes', {});
ok('cancel');

const { contents } = await client.readResource({ uri: PANE });
assert.ok(contents[0].text.includes('it is done'), JSON.stringify(contents));
// The code differs by revision; this client hides that.
await assert.rejects(client.readResource({ uri: 'tmux://panes/%25999/content' }), /there is no pane/);
ok('read');

let unsubscribe;
if (era === 'modern') {
  const subscription = await client.listen({ resourceSubscriptions: [PANE] });
  assert.deepEqual(subscription.honoredFilter.resourceSubscriptions, [PANE]);
  unsubscribe = () => subscription.close();
} else {
  await client.subscribeResource({ uri: PANE });
  unsubscribe = () => client.unsubscribeResource({ uri: PANE });
}
printInPane('something new');
await until('the pane is updated', () => updated.includes(PANE));
ok('subscribe');
await unsubscribe();
await call('wait_for', { target: '%0', until: ['idle:0.5'], timeout: 10 });
updated.length = 0;
printInPane('without a subscription');
await call('wait_for', { target: '%0', until: ['idle:0.5'], timeout: 10 });
assert.deepEqual(updated, []);
ok('unsubscribe');

const prompt = await client.getPrompt({ name: 'run_and_wait', arguments: { command: 'make test' } });
assert.match(prompt.messages[0].content.text, /run_command[^]*make test/);
ok('prompt');

const ofPrompt = { type: 'ref/prompt', name: 'run_and_wait' };
const ofTemplate = { type: 'ref/resource', uri: 'tmux://panes/{pane}/content' };
for (const ref of [ofPrompt, ofTemplate]) {
  const { completion } = await client.complete({ ref, argument: { name: 'pane', value: '%' } });
  assert.ok(completion.values.includes('%0'), JSON.stringify(completion));
}
ok('complete');

let meta;
if (era === 'modern') meta = { 'io.modelcontextprotocol/logLevel': 'info' };
else await client.setLoggingLevel('info');
await call('run_command', { command: 'true' }, undefined, meta);
await until('the command is in the log', () => logged.some(text => /^command c\d+ started/.test(text)));
ok('log');

await client.close();
ok('close');
