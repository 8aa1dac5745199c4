// UUIDs (chapter 2, TXT-060).
import { fail } from './fault.mjs';

const UUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

// toLowerCase is safe only because the text is ASCII by then.
export function uuidText(text) {
  if (!UUID.test(text)) fail('UUID_SYNTAX');
  return text.toLowerCase();
}
