import type { TestPostgres } from '../wings/warehouse/postgres-of-tests.ts';

/** The turn of a call, by the clock of the database, in milliseconds since 1970: a busy machine hears of it late. */
export interface Turn {
  /** When the call may leave. */
  readonly leaveMs: number;
  /** When the next one could have left, and the end of the pause, as both were known when this turn was given. */
  readonly beforeMs: number;
  readonly pauseEndMs: number;
  /** When this turn was given. */
  readonly givenMs: number;
}

/**
 * Notes the turns that a ledger gives from now on, until they are read, by when they leave.
 * @param perSecond calls that the pace allows
 */
export async function noteTurns(
  server: TestPostgres,
  { perSecond }: { perSecond: number },
): Promise<() => Promise<Turn[]>> {
  await server.query(`create table turn (before timestamptz, next timestamptz, pause_end timestamptz, given timestamptz);
    create function note_turn() returns trigger language plpgsql as $$ begin
      insert into turn values (old.next_at, new.next_at, new.pause_until, clock_timestamp()); return null; end $$;
    create trigger note after update of next_at on asset_export.pace for each row execute function note_turn()`);
  return async () => {
    const ms = (of: string): string => `extract(epoch from ${of}) * 1000`;
    const told = await server.query(
      `select ${ms('next')} - ${1000 / perSecond}, ${ms('before')}, ${ms('pause_end')}, ${ms('given')} from turn order by 1`,
    );
    await server.query('drop function note_turn cascade; drop table turn');
    return told
      .trim()
      .split('\n')
      .map((line) => {
        const [leaveMs = NaN, beforeMs = NaN, pauseEndMs = NaN, givenMs = NaN] = line.split('|').map(Number);
        return { leaveMs, beforeMs, pauseEndMs, givenMs };
      });
  };
}

/** Most of the turns that leave in one second. */
export function mostInASecond(turns: readonly Turn[]): number {
  const inSecondFrom = (fromMs: number) => turns.filter(({ leaveMs }) => leaveMs >= fromMs && leaveMs < fromMs + 1000);
  return Math.max(...turns.map(({ leaveMs }) => inSecondFrom(leaveMs).length));
}
