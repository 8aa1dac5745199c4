// The calendar against that of the platform, which counts days in the same way from 0001 to 9999.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateFromDays, dateText, daysFromDate } from './calendar.mjs';

test('every day from 0001-01-01 to 9999-12-31', () => {
  for (let days = -719162; days <= 2932896; days++) {
    const date = dateFromDays(days);
    assert.equal(daysFromDate(date.year, date.month, date.day), days);
    if (days % 97 === 0) assert.equal(dateText(date), new Date(days * 86400000).toISOString().slice(0, 10));
  }
});
