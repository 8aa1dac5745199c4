// google.type.Money (chapter 2, TXT-010 to TXT-012).
import { fail } from './fault.mjs';
import { INT64, within } from './integer.mjs';

const CURRENCY = /^[A-Z]{3}$/;
export const NANOS_LIMIT = 999999999n;

// moneyText takes units and nanos as BigInt.
export function moneyText(currency, units, nanos) {
  if (!CURRENCY.test(currency)) fail('MONEY_CURRENCY', 'not three letters A to Z');
  if (!within(units, INT64)) fail('MONEY_RANGE', 'units');
  if (!within(nanos, [-NANOS_LIMIT, NANOS_LIMIT])) fail('MONEY_RANGE', 'nanos');
  if (mixedSigns(units, nanos)) fail('MONEY_RANGE', 'signs');
  const sign = units < 0n || nanos < 0n ? '-' : '';
  const fraction = magnitude(nanos).toString().padStart(9, '0').replace(/0+$/, '');
  return `${currency}${sign}${magnitude(units)}${fraction === '' ? '' : '.'}${fraction}`;
}

// mixedSigns is shared with durations: nanos of another sign than units that are not zero.
export function mixedSigns(units, nanos) {
  return (units > 0n && nanos < 0n) || (units < 0n && nanos > 0n);
}

export function magnitude(value) {
  return value < 0n ? -value : value;
}
