// google.protobuf.Duration (chapter 2, TXT-030 to TXT-032).
import { fail } from './fault.mjs';
import { within } from './integer.mjs';
import { magnitude, mixedSigns, NANOS_LIMIT } from './money.mjs';
import { fractionText } from './timestamp.mjs';

const SECONDS_LIMIT = 315576000000n;

export function durationText(seconds, nanos, digits) {
  if (!within(seconds, [-SECONDS_LIMIT, SECONDS_LIMIT])) fail('DURATION_RANGE', 'seconds');
  if (!within(nanos, [-NANOS_LIMIT, NANOS_LIMIT])) fail('DURATION_RANGE', 'nanos');
  if (mixedSigns(seconds, nanos)) fail('DURATION_RANGE', 'signs');
  const text = `${magnitude(seconds)}${fractionText(magnitude(nanos), digits)}`; // cut toward zero
  const negative = (seconds < 0n || nanos < 0n) && /[1-9]/.test(text); // TXT-031
  return `${negative ? '-' : ''}${text}s`;
}
