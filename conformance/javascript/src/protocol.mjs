// The protocol of chapter 12 (CONF-001 to CONF-005): lines in, lines out, nothing else.
import { isUtf8 } from 'node:buffer';
import { Fault } from './fault.mjs';
import { OPS } from './ops.mjs';
import { isObject } from './shape.mjs';

const HELLO = { type: 'hello', protocol: 'idem-conformance/1', name: 'idem-javascript', version: '1.0.0' };
const LINE_FEED = 0x0a;

// Session turns bytes into answers. `exit` is undefined until it is over, then the exit code.
export class Session {
  #rest = []; // pieces of a line that has not ended yet
  exit = undefined;
  complaint = undefined;

  // feed takes a chunk of any size and gives the text to write.
  feed(chunk) {
    const answers = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#rest.push(chunk.subarray(start, end));
      start = end + 1;
      this.#answerLine(answers);
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
    return answers.join('');
  }

  // finish is the end of input: a last line without a line feed counts (CONF-002).
  finish() {
    const answers = [];
    if (this.#rest.length > 0) this.#answerLine(answers);
    this.exit ??= 0;
    return answers.join('');
  }

  #answerLine(answers) {
    const line = this.#rest.length === 1 ? this.#rest[0] : Buffer.concat(this.#rest);
    this.#rest = [];
    if (this.exit !== undefined) return;
    const message = parse(line);
    if (message === undefined) {
      this.#end(2, 'a line that is no JSON object');
    } else if (message.type === 'case') {
      answers.push(`${JSON.stringify(answer(message))}\n`);
    } else if (message.type === 'hello') {
      answers.push(`${JSON.stringify(HELLO)}\n`);
    } else if (message.type === 'end') {
      this.#end(0);
    } else {
      this.#end(2, 'an object of no known type');
    }
  }

  #end(exit, complaint) {
    this.exit = exit;
    this.complaint = complaint;
  }
}

// parse gives undefined for what is no JSON object. Ill-formed UTF-8 and a byte order mark are
// not JSON; Buffer keeps the mark, and JSON.parse refuses it.
function parse(line) {
  if (!isUtf8(line)) return undefined;
  try {
    const value = JSON.parse(line.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

// answer computes one case. An op that is not known, or cannot be answered here, is unsupported
// (CONF-004).
export function answer({ seq, op, input }) {
  try {
    const output = OPS.get(op)?.(input);
    return output === undefined ? { type: 'result', seq, unsupported: true } : { type: 'result', seq, output };
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    return { type: 'result', seq, error: fault.code, detail: fault.detail };
  }
}
