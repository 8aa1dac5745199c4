// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.
package io.github.idemspec.v1;

/** The text of a date (TXT-040), and the proleptic Gregorian calendar. */
final class DateText {
  /** Days from 0000-03-01, where the arithmetic begins, to 1970-01-01. */
  private static final int EPOCH = 719_468;

  private static final int DAYS_IN_400_YEARS = 146_097;

  /** The bytes of {@code YYYY-MM-DD}. */
  private static final int SIZE = 10;

  private DateText() {}

  static void append(KeyBuilder out, int year, int month, int day) {
    boolean exists =
        year >= 1
            && year <= 9999
            && month >= 1
            && month <= 12
            && day >= 1
            && day <= daysIn(year, month);
    if (!exists) {
      throw out.fault(
          ErrorCode.DATE_RANGE, -1, "year " + year + ", month " + month + ", day " + day);
    }
    int at = out.claim(SIZE);
    if (at >= 0) {
      write(out.bytes, at, year, month, day);
      out.length = at + SIZE;
    }
  }

  /** Writes the date of a day that is counted from 1970-01-01, in the years 0001 to 9999. */
  static void writeDay(byte[] to, int at, int dayFromEpoch) {
    // Years that begin in March have their leap day last; and what would be divisions by the days of
    // a year and of a month are multiplications (Neri and Schneider, "Euclidean affine functions",
    // 2022).
    int quarters = 4 * (dayFromEpoch + EPOCH) + 3;
    int century = quarters / DAYS_IN_400_YEARS;
    long years = 2_939_745L * (quarters - century * DAYS_IN_400_YEARS | 3);
    int year = 100 * century + (int) (years >>> 32);
    int dayOfYear = (int) ((years & 0xffff_ffffL) / 2_939_745 / 4);
    int months = 2141 * dayOfYear + 197_913;
    int month = months >>> 16;
    int day = (months & 0xffff) / 2141 + 1;
    boolean afterDecember = dayOfYear >= 306;
    write(to, at, afterDecember ? year + 1 : year, afterDecember ? month - 12 : month, day);
  }

  /** The day of a date of the years 0000 to 9999, counted from 1970-01-01. */
  static int dayOf(int year, int month, int day) {
    int y = month <= 2 ? year - 1 : year;
    int era = Math.floorDiv(y, 400);
    int yearOfEra = y - era * 400;
    int dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
    return era * DAYS_IN_400_YEARS + dayOfEra - EPOCH;
  }

  static int daysIn(int year, int month) {
    switch (month) {
      case 2:
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
      case 4:
      case 6:
      case 9:
      case 11:
        return 30;
      default:
        return 31;
    }
  }

  private static void write(byte[] to, int at, int year, int month, int day) {
    int century = year / 100;
    KeyBuilder.writeTwo(to, at, century);
    KeyBuilder.writeTwo(to, at + 2, year - century * 100);
    to[at + 4] = '-';
    KeyBuilder.writeTwo(to, at + 5, month);
    to[at + 7] = '-';
    KeyBuilder.writeTwo(to, at + 8, day);
  }
}
