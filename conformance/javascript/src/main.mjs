// The program: standard input to a session, its answers to standard output.
import { Session } from './protocol.mjs';

const session = new Session();

// write resolves when the text is handed over, so that an exit cuts nothing off and a slow reader
// slows the port down.
function write(text) {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

process.stdout.on('error', () => process.exit(1)); // nobody reads any more

for await (const chunk of process.stdin) {
  const answers = session.feed(chunk);
  if (answers !== '') await write(answers);
  if (session.exit !== undefined) break;
}
const last = session.finish();
if (last !== '') await write(last);
if (session.complaint !== undefined) console.error(`idem-javascript: ${session.complaint}`);
process.exit(session.exit);
