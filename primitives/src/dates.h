// Dates and times: days and microseconds since 1970-01-01 in UTC, in the
// proleptic Gregorian calendar. Years start in March here, so that the leap day
// is the last of a year and months' lengths follow a line.

#pragma once

#include "target.h"

namespace dates {

const int64_t DAY = 86400000000;

RF_HELPER int64_t floor_divide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b < 0 ? q - 1 : q;
}

struct Civil {
  int64_t year;
  int32_t month, day;
};

RF_HELPER int64_t to_days(int64_t year, int32_t month, int32_t day) {
  if (month <= 2) {
    year--;
    month += 12;
  }
  int64_t era = floor_divide(year, 400);
  int64_t of_era = year - era * 400;
  int64_t day_of_year = (153 * (month - 3) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719468;
}

RF_HELPER Civil to_civil(int64_t days) {
  days += 719468;
  int64_t era = floor_divide(days, 146097);
  // Within an era 32 bits do, which GPUs divide in a quarter of the time.
  int32_t of_era = (int32_t)(days - era * 146097);
  int32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int32_t day_of_year = of_era - (365 * year + year / 4 - year / 100);
  int32_t shifted = (5 * day_of_year + 2) / 153;
  int32_t month = shifted + 3;
  int32_t day = day_of_year - (153 * shifted + 2) / 5 + 1;
  bool next = month > 12;
  return Civil{year + era * 400 + next, next ? month - 12 : month, day};
}

RF_HELPER int32_t month_length(int64_t year, int32_t month) {
  if (month == 2)
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return 30 + ((month + month / 8) & 1);
}

} // namespace dates

// rf_days_from_civil returns the days of a date; month is 1 to 12.
//
// Cost: 1 division of 64 bits, 4 by constants of 32
RF_PRIMITIVE int64_t rf_days_from_civil(int64_t year, int32_t month, int32_t day) {
  return dates::to_days(year, month, day);
}

// rf_civil_from_days is the inverse of rf_days_from_civil.
//
// Cost: 1 division of 64 bits, 7 by constants of 32
RF_PRIMITIVE void rf_civil_from_days(int64_t *year, int32_t *month, int32_t *day, int64_t days) {
  dates::Civil c = dates::to_civil(days);
  *year = c.year, *month = c.month, *day = c.day;
}

// rf_datetime_day returns the days of a datetime and, in rest, the microseconds
// since that midnight.
//
// Cost: 1 division of 64 bits by a constant
RF_PRIMITIVE int64_t rf_datetime_day(int64_t *rest, int64_t micros) {
  int64_t days = dates::floor_divide(micros, dates::DAY);
  *rest = micros - days * dates::DAY;
  return days;
}

// rf_date_year returns the year of a day.
//
// Cost: as rf_civil_from_days
RF_PRIMITIVE int64_t rf_date_year(int64_t days) { return dates::to_civil(days).year; }

// rf_date_month returns the month of a day, 1 to 12.
//
// Cost: as rf_civil_from_days
RF_PRIMITIVE int64_t rf_date_month(int64_t days) { return dates::to_civil(days).month; }

// rf_date_day returns the day of the month, 1 to 31.
//
// Cost: as rf_civil_from_days
RF_PRIMITIVE int64_t rf_date_day(int64_t days) { return dates::to_civil(days).day; }

// rf_date_weekday counts from 0 for Sunday.
//
// Cost: 1 division of 64 bits by a constant
RF_PRIMITIVE int64_t rf_date_weekday(int64_t days) { return days + 4 - dates::floor_divide(days + 4, 7) * 7; }

// rf_date_yearday counts from 1 for the first of January.
//
// Cost: as rf_civil_from_days and rf_days_from_civil
RF_PRIMITIVE int64_t rf_date_yearday(int64_t days) {
  return days - dates::to_days(dates::to_civil(days).year, 1, 1) + 1;
}

// rf_date_add_months moves a day by months of either sign. It keeps the day of
// the month, or takes the last one of a month that is too short.
//
// Cost: as rf_civil_from_days and rf_days_from_civil, and 1 division
RF_PRIMITIVE int64_t rf_date_add_months(int64_t days, int64_t months) {
  dates::Civil c = dates::to_civil(days);
  int64_t total = c.year * 12 + (c.month - 1) + months;
  int64_t year = dates::floor_divide(total, 12);
  int32_t month = (int32_t)(total - year * 12) + 1;
  int32_t most = dates::month_length(year, month);
  return dates::to_days(year, month, c.day < most ? c.day : most);
}
