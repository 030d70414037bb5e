import { dayMs } from '../../lib/clock.ts';

/** How many exports to keep, by rule. */
export interface KeepRules {
  readonly last: number;
  readonly daily: number;
  readonly weekly: number;
  readonly monthly: number;
}

/** An export by its UTC day, `YYYY-MM-DD`. */
export interface DatedNight {
  readonly name: string;
  readonly day: string;
}

/** The newest first; of one day by name. */
export function newestFirst<T extends DatedNight>(nights: readonly T[]): T[] {
  const key = ({ day, name }: T): string => `${day} ${name}`;
  return [...nights].sort((a, b) => (key(a) < key(b) ? 1 : -1));
}

/** The day, the ISO week or the month of a day. */
const periods = {
  daily: (day: string) => day,
  weekly: isoWeek,
  monthly: (day: string) => day.slice(0, 7),
} as const;

/**
 * Why each export is kept, by name; those that no rule keeps are absent. Each rule goes from the newest export to the oldest. Days, weeks and
 * months without an export do not count.
 */
export function keptByRules(nights: readonly DatedNight[], rules: KeepRules): Map<string, string[]> {
  const kept = new Map<string, string[]>();
  const keep = ({ name }: DatedNight, reason: string): void => {
    kept.set(name, [...(kept.get(name) ?? []), reason]);
  };
  const sorted = newestFirst(nights);
  for (const [index, night] of sorted.slice(0, rules.last).entries()) keep(night, `last ${index + 1} of ${rules.last}`);
  for (const rule of ['daily', 'weekly', 'monthly'] as const) {
    const seen = new Set<string>();
    for (const night of sorted) {
      const period = periods[rule](night.day);
      if (seen.has(period) || seen.size >= rules[rule]) continue;
      seen.add(period);
      keep(night, `${rule} ${period}`);
    }
  }
  return kept;
}

/** `2026-W47`: a week belongs to the year of its Thursday. */
function isoWeek(day: string): string {
  const date = Date.parse(`${day}T00:00:00Z`);
  const weekday = (new Date(date).getUTCDay() + 6) % 7;
  const thursday = date + (3 - weekday) * dayMs;
  const year = new Date(thursday).getUTCFullYear();
  const week = Math.floor((thursday - Date.UTC(year, 0, 1)) / dayMs / 7) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}
