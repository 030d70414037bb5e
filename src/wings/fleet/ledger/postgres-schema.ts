import { ExportError } from '../../../lib/export-error.ts';
import { allKeys } from '../../../core/client/ledger/ledger-file.ts';
import type { PostgresConnection } from './postgres-connection.ts';

/**
 * Raise it with every change of what the statements make. Programs of older versions may still work with the schema: a new version
 * adds columns and functions, and never changes the arguments or the result of a function that is there.
 */
export const schemaVersion = 5;

/**
 * Tables and functions of a shared ledger. Everything of a key or an account is in rows of that key (`ledgerName`), so one database serves many.
 * `day`: what is booked, in how many calls, and their price; of calls null is "not known" (where a key's were taken over), of the
 * price "several". `flight`: how much of it a process has in calls that are not over. `pace`: when the next call of
 * anyone may begin, how long all pause, and the most ids a call, which is forgotten after a day. `sums`: what an export has
 * planned and sent, in calls. `taken`: the ledgers of keys whose bookings an account took over, and `allKeys` on a day that was set. Function bodies take the time after their locks.
 */
export const schemaStatements = `
create schema if not exists asset_export;
create table if not exists asset_export.day (
  key text, day date, booked bigint not null check (booked >= 0), calls bigint default 0, price bigint,
  primary key (key, day)
) with (fillfactor = 50);
create table if not exists asset_export.flight (
  key text, day date, holder text, credits bigint not null, seen timestamptz not null, primary key (key, day, holder)
) with (fillfactor = 50);
create table if not exists asset_export.pace (
  key text primary key, next_at timestamptz not null, pause_until timestamptz not null,
  ids_per_call bigint, learned_at timestamptz
) with (fillfactor = 50);
create table if not exists asset_export.sums (
  key text, export text, planned float8 not null, sent bigint not null, seen timestamptz not null,
  primary key (key, export)
) with (fillfactor = 50);

create table if not exists asset_export.taken (
  key text, day date, from_key text, primary key (key, day, from_key)
);

create or replace function asset_export.take_over(p_key text, p_from text, p_day date) returns void
language plpgsql as $$
begin
  insert into asset_export.day as d values (p_key, p_day, 0) on conflict do nothing;
  perform from asset_export.day where key = p_key and day = p_day for update;
  insert into asset_export.taken select p_key, p_day, p_from
  where not exists (select from asset_export.taken where key = p_key and day = p_day and from_key = '${allKeys}')
  on conflict do nothing;
  if not found then return; end if;
  update asset_export.day set booked = day.booked + f.booked, calls = case when f.booked = 0 then day.calls end
  from asset_export.day f
  where day.key = p_key and day.day = p_day and f.key = p_from and f.day = p_day;
end
$$;

create or replace function asset_export.learned_ids(p asset_export.pace) returns bigint
language sql as $$ select p.ids_per_call where p.learned_at > clock_timestamp() - interval '1 day' $$;

create or replace function asset_export.fly(p_key text, p_day date, p_holder text, p_credits bigint) returns void
language sql as $$
  insert into asset_export.flight values (p_key, p_day, p_holder, p_credits, clock_timestamp())
  on conflict (key, day, holder) do update set credits = excluded.credits, seen = excluded.seen
$$;

create or replace function asset_export.turn(p_key text, p_credits bigint, p_per_second float8) returns bigint
language plpgsql as $$
declare
  row asset_export.pace;
  now_at timestamptz;
  begin_at timestamptz;
begin
  insert into asset_export.pace values (p_key, '-infinity', '-infinity') on conflict do nothing;
  if p_per_second is null then
    select * into row from asset_export.pace where key = p_key;
    return greatest(0, ceil(extract(epoch from greatest(row.pause_until, clock_timestamp()) - clock_timestamp()) * 1000));
  end if;
  select * into row from asset_export.pace where key = p_key for update;
  now_at := clock_timestamp();
  begin_at := greatest(row.next_at, row.pause_until, now_at - interval '50 milliseconds');
  update asset_export.pace set next_at = begin_at + make_interval(secs => p_credits / p_per_second) where key = p_key;
  return greatest(0, ceil(extract(epoch from begin_at - now_at) * 1000));
end
$$;

create or replace function asset_export.pause(p_key text, p_ms float8) returns void
language sql as $$
  insert into asset_export.pace as p
  values (p_key, '-infinity', clock_timestamp() + make_interval(secs => p_ms / 1000))
  on conflict (key) do update set pause_until = greatest(p.pause_until, excluded.pause_until)
$$;

create or replace function asset_export.learn(p_key text, p_ids bigint) returns void
language sql as $$
  insert into asset_export.pace as p values (p_key, '-infinity', '-infinity', p_ids, clock_timestamp())
  on conflict (key) do update set learned_at = excluded.learned_at, ids_per_call = excluded.ids_per_call
$$;

create or replace function asset_export.book(
  p_key text, p_day date, p_holder text, p_credits bigint, p_flight bigint, p_limit bigint,
  p_turn bigint, p_per_second float8
) returns table (booked boolean, wait_ms bigint, now_ms float8)
language plpgsql as $$
begin
  insert into asset_export.day as d values (p_key, p_day, 0) on conflict do nothing;
  update asset_export.day as d set booked = d.booked + p_credits,
    calls = d.calls + (p_credits > 0)::int,
    price = case when p_credits = 0 or d.calls > 0 and d.price = p_credits then d.price when d.calls = 0 then p_credits end
  where d.key = p_key and d.day = p_day and (p_limit is null or d.booked + p_credits <= p_limit);
  booked := found;
  wait_ms := 0;
  if booked then
    perform asset_export.fly(p_key, p_day, p_holder, p_flight);
    if p_turn is not null then wait_ms := asset_export.turn(p_key, p_turn, p_per_second); end if;
  end if;
  now_ms := extract(epoch from clock_timestamp()) * 1000;
  return next;
end
$$;

create or replace function asset_export.depart(
  p_key text, p_day date, p_holder text, p_credits bigint, p_flight bigint, p_limit bigint,
  p_turn bigint, p_per_second float8,
  p_export text, p_planned float8, p_sent bigint, p_most_planned float8, p_percent float8, p_calls bigint
) returns table (booked boolean, wait_ms bigint, now_ms float8, passed boolean, planned float8, sent bigint)
language plpgsql as $$
declare
  row asset_export.sums;
  whole float8;
begin
  insert into asset_export.sums values (p_key, p_export, 0, 0, clock_timestamp()) on conflict do nothing;
  select * into row from asset_export.sums as s where s.key = p_key and s.export = p_export for update;
  whole := ceil(least(row.planned + p_planned, p_most_planned) - 1e-7);
  passed := p_sent > 0 and row.sent + p_sent > floor(whole * (100 + p_percent) / 100 + 1e-7) + p_calls;
  if passed is true then
    booked := false;
    wait_ms := 0;
    now_ms := extract(epoch from clock_timestamp()) * 1000;
    planned := least(row.planned, p_most_planned);
    sent := row.sent;
    return next;
    return;
  end if;
  update asset_export.sums as s set planned = greatest(0, s.planned + p_planned), sent = greatest(0, s.sent + p_sent),
    seen = clock_timestamp()
  where s.key = p_key and s.export = p_export;
  return query select b.booked, b.wait_ms, b.now_ms, false, row.planned + p_planned, row.sent + p_sent
    from asset_export.book(p_key, p_day, p_holder, p_credits, p_flight, p_limit, p_turn, p_per_second) as b;
end
$$;

create or replace function asset_export.give_back(
  p_key text, p_day date, p_holder text, p_credits bigint, p_flight bigint
) returns void
language plpgsql as $$
begin
  update asset_export.day set booked = greatest(0, booked - p_credits),
    calls = greatest(0, calls - case when price > 0 then p_credits / price else (p_credits > 0)::int end)
  where key = p_key and day = p_day;
  perform asset_export.fly(p_key, p_day, p_holder, p_flight);
end
$$;

create or replace function asset_export.correct(p_key text, p_day date, p_credits bigint)
returns table (before_credits bigint, in_flight bigint)
language plpgsql as $$
begin
  insert into asset_export.day as d values (p_key, p_day, 0) on conflict do nothing;
  select booked into before_credits from asset_export.day where key = p_key and day = p_day for update;
  select coalesce(sum(credits), 0) into in_flight from asset_export.flight
  where key = p_key and day = p_day and seen > clock_timestamp() - interval '10 minutes';
  update asset_export.day set booked = p_credits + in_flight where key = p_key and day = p_day;
  insert into asset_export.taken values (p_key, p_day, '${allKeys}') on conflict do nothing;
  return next;
end
$$;

create or replace function asset_export.correct_day(p_key text, p_day date, p_credits bigint)
returns table (before_credits bigint, in_flight bigint, calls bigint, price bigint)
language plpgsql as $$
begin
  select d.calls, d.price into calls, price from asset_export.day d where d.key = p_key and d.day = p_day for update;
  select c.before_credits, c.in_flight into before_credits, in_flight
  from asset_export.correct(p_key, p_day, p_credits) as c;
  return next;
end
$$;
`;

/** Any number, the same in all programs that make the schema. */
const lockNumber = 7_355_608_117;

/** What the comment of the schema says, before its version. */
const mark = 'asset-export schema ';

/** Makes the schema where it is missing, in one transaction. Programs that start at once do it one after the other. */
const script = `select pg_advisory_xact_lock(${lockNumber});
do $script$ begin
if coalesce(obj_description(to_regnamespace('asset_export'), 'pg_namespace'), '') not like '${mark}%' then
${schemaStatements}
comment on schema asset_export is '${mark}${schemaVersion}';
end if;
end $script$`;

/**
 * Whether a database has the schema.
 * @throws {ExportError} `damaged` when another version made it
 */
export async function hasSchema(connection: PostgresConnection, patienceMs?: number): Promise<boolean> {
  const { made } = await connection.ask(
    `select obj_description(to_regnamespace('asset_export'), 'pg_namespace') as made`,
    [],
    patienceMs,
  );
  if (typeof made !== 'string' || !made.startsWith(mark)) return false;
  const version = Number(made.slice(mark.length));
  if (version === schemaVersion) return true;
  if (version < schemaVersion)
    throw new ExportError('damaged', 'the shared database was set up by an older version of asset-export', {
      todo: 'When no run uses it, drop the schema asset_export, run the command again, and set what is booked today: asset-export credits set.',
    });
  throw new ExportError('damaged', 'the shared database was set up by a newer version of asset-export', {
    todo: 'Install that version of asset-export here too. Programs that already run continue.',
  });
}

/** Sets the schema up where it is missing. One that is there needs no right to make anything. */
export async function makeSchema(connection: PostgresConnection): Promise<void> {
  if (await hasSchema(connection)) return;
  await connection.ask(script);
  // Another version may have come first.
  await hasSchema(connection);
}
