// What vectors cannot show of the protocol: how lines are cut, and how a session ends.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { Session } from './protocol.mjs';

const HELLO = '{"type":"hello","protocol":"idem-conformance/1"}\n';
const END = '{"type":"end"}\n';
const ask = (seq, op, input) => `${JSON.stringify({ type: 'case', seq, op, input })}\n`;
const ONE = ask(1, 'component', { string: 'é😀' });
const ANSWER = '{"type":"result","seq":1,"output":{"text":"%C3%A9%F0%9F%98%80"}}\n';

function run(chunks) {
  const session = new Session();
  const answers = chunks.map((chunk) => session.feed(Buffer.from(chunk)));
  answers.push(session.finish());
  return { text: answers.join(''), exit: session.exit };
}

test('a line may come in pieces of any size', () => {
  const bytes = Buffer.from(ONE + END);
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    assert.deepEqual(run(chunks), { text: ANSWER, exit: 0 }, `pieces of ${size}`);
  }
});

const ENDINGS = [
  ['no input', '', 0],
  ['end of input without end', ONE, 0],
  ['a last line without a line feed', ONE.trimEnd(), 0],
  ['end', ONE + END, 0],
  ['what follows the end is not read', `${ONE}${END}rubbish\n`, 0],
  ['CR LF is white space', ONE.replace('\n', '\r\n') + END, 0],
  ['no JSON', `${ONE}rubbish\n`, 2],
  ['a cut last line', `${ONE}{"type":`, 2],
  ['an empty line', `${ONE}\n`, 2],
  ['a list', `${ONE}[]\n`, 2],
  ['null', `${ONE}null\n`, 2],
  ['a number', `${ONE}1\n`, 2],
  ['a text', `${ONE}"case"\n`, 2],
  ['two objects', `${ONE}{} {}\n`, 2],
  ['an unknown type', `${ONE}{"type":"case ","seq":2}\n`, 2],
  ['a byte order mark', Buffer.concat([Buffer.from(ONE), Buffer.from('efbbbf', 'hex'), Buffer.from(END)]), 2],
  ['ill-formed UTF-8', Buffer.concat([Buffer.from(`${ONE}{"type":"`), Buffer.from('ff', 'hex'), Buffer.from('"}\n')]), 2],
];

for (const [name, input, exit] of ENDINGS) {
  test(`exit ${exit}: ${name}`, () => {
    assert.deepEqual(run([input]), { text: input.length === 0 ? '' : ANSWER, exit });
  });
}

const UNSUPPORTED = ['nonsense', '', 'constructor', '__proto__', 'toString', 7, null, undefined];

for (const op of UNSUPPORTED) {
  test(`op ${JSON.stringify(op)} is unsupported`, () => {
    assert.equal(run([ask(3, op, {})]).text, '{"type":"result","seq":3,"unsupported":true}\n');
  });
}

test('the executable answers, says why it stops, and writes nothing else', () => {
  const port = fileURLToPath(new URL('../port', import.meta.url));
  const good = spawnSync(port, { input: HELLO + ONE + END, encoding: 'utf8' });
  const [hello, answer] = good.stdout.split(/(?<=\n)/);
  assert.deepEqual([good.status, good.stderr, answer], [0, '', ANSWER]);
  assert.equal(JSON.parse(hello).protocol, 'idem-conformance/1');

  const bad = spawnSync(port, { input: `${HELLO}${ONE}rubbish\n`, encoding: 'utf8' });
  assert.deepEqual([bad.status, bad.stdout], [2, good.stdout]);
  assert.notEqual(bad.stderr, '');
});

test('many answers at once are all written before the exit', () => {
  const port = fileURLToPath(new URL('../port', import.meta.url));
  const input = ONE.repeat(20000) + END;
  const { status, stdout } = spawnSync(port, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.deepEqual([status, stdout.length], [0, ANSWER.length * 20000]);
});
