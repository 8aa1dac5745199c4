// google.type.Date (chapter 2, TXT-040).
import { dateText, isDate } from './calendar.mjs';
import { fail } from './fault.mjs';
import { within } from './integer.mjs';

// dateTextOf takes BigInt, since a year may come as large as it likes.
export function dateTextOf(year, month, day) {
  if (!within(year, [1n, 9999n])) fail('DATE_RANGE', 'year');
  const date = { year: Number(year), month: Number(month), day: Number(day) };
  if (!isDate(date.year, date.month, date.day)) fail('DATE_RANGE');
  return dateText(date);
}
