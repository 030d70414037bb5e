import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backQuoted, doubleQuoted, escapedBackQuoted } from '../../src/lib/sql-text.ts';

/** What an engine reads where a name is quoted: the name, and what is behind it. */
const readers = {
  // Standard SQL, DuckDB, PostgreSQL, Redshift, Snowflake, Trino: a quote within is doubled.
  doubleQuoted: [doubleQuoted, doubled('"')],
  // Spark and Hive: so is a backtick.
  backQuoted: [backQuoted, doubled('`')],
  // BigQuery and ClickHouse: a backslash takes the next character as it is.
  escapedBackQuoted: [
    escapedBackQuoted,
    (text: string) => {
      const [whole = '', inner = ''] = /^`((?:[^`\\]|\\[^])*)`/.exec(text) ?? [];
      return { name: inner.replaceAll(/\\([^])/g, '$1'), rest: text.slice(whole.length) };
    },
  ],
} as const;

function doubled(quote: string) {
  return (text: string) => {
    const [whole = '', inner = ''] =
      new RegExp(`^${quote}((?:[^${quote}]|${quote}${quote})*)${quote}`).exec(text) ?? [];
    return { name: inner.replaceAll(quote + quote, quote), rest: text.slice(whole.length) };
  };
}

const oddText = fc
  .array(fc.constantFrom('`', '"', '\\', "'", ';', '--', '\n', 'x', ' ', 'é', '/*'))
  .map((parts) => parts.join(''));

it.each(Object.entries(readers))('any text is one identifier: %s', (_, [quote, read]) => {
  fc.assert(
    fc.property(fc.oneof(oddText, fc.string()), (name) => {
      expect(read(`${quote(name)} STRING`)).toEqual({ name, rest: ' STRING' });
    }),
  );
});
