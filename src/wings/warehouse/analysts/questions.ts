import {
  authoritiesTable,
  attributesTable,
  creatorsTable,
  filesTable,
  groupingTable,
} from '../../../core/records/columns.ts';
import type { Table } from '../../../core/records/table.ts';

/** A question of analysts, and the query that answers it: the same text in every engine. */
export interface AnalystQuestion {
  readonly title: string;
  /** The tables that it needs. */
  readonly tables: readonly string[];
  /** How they must have been loaded; `nights`: views over every night, read in place. */
  readonly mode?: 'scd2' | 'nights';
  readonly about: string;
  readonly sql: string;
}

const childTables: readonly Table[] = [creatorsTable, authoritiesTable, groupingTable, filesTable, attributesTable];

/** Names are bare, and no alias has the name of a column: ClickHouse would take the alias for the column. */
export const questions: readonly AnalystQuestion[] = [
  {
    title: 'Holders per collection',
    tables: ['assets'],
    about: 'How many owners each collection has, without burnt assets.',
    sql: `SELECT collection, count(DISTINCT ownership_owner) AS holders, count(*) AS asset_count
FROM assets
WHERE collection IS NOT NULL AND (burnt IS NULL OR NOT burnt)
GROUP BY collection
ORDER BY holders DESC, collection
LIMIT 20`,
  },
  {
    title: 'Rarity of traits',
    tables: ['assets', 'attributes'],
    about: 'How many assets of a collection have each value of each trait, the rarest first.',
    sql: `SELECT t.collection, t.trait_type, t.value, t.asset_count, 100.0 * t.asset_count / c.total AS percent
FROM (
  SELECT a.collection AS collection, x.trait_type AS trait_type, x.value AS value, count(DISTINCT a.id) AS asset_count
  FROM assets AS a
  JOIN attributes AS x ON x.asset_id = a.id
  WHERE a.collection IS NOT NULL AND x.trait_type IS NOT NULL AND x.value IS NOT NULL
  GROUP BY a.collection, x.trait_type, x.value
) AS t
JOIN (
  SELECT collection, count(*) AS total FROM assets GROUP BY collection
) AS c ON c.collection = t.collection
ORDER BY percent, t.collection, t.trait_type, t.value
LIMIT 20`,
  },
  {
    title: 'Creators by verified share',
    tables: ['creators'],
    about: 'Creators who signed, by the sum of their shares: 100 is one whole asset.',
    sql: `SELECT address, count(DISTINCT asset_id) AS asset_count, sum(share) AS total_share
FROM creators
WHERE verified
GROUP BY address
ORDER BY total_share DESC, address
LIMIT 20`,
  },
  {
    title: 'Changes per night',
    tables: ['assets'],
    mode: 'scd2',
    about: 'How many assets were new, changed or gone in each night.',
    sql: `SELECT night, sum(is_start) - sum(is_update) AS new_assets, sum(is_update) AS changed_assets, sum(is_end) - sum(is_update) AS gone_assets
FROM (
  SELECT valid_from AS night, 1 AS is_start, 0 AS is_end, 0 AS is_update FROM assets
  UNION ALL
  SELECT valid_to AS night, 0 AS is_start, 1 AS is_end, 0 AS is_update FROM assets WHERE valid_to IS NOT NULL
  UNION ALL
  SELECT n.valid_from AS night, 0 AS is_start, 0 AS is_end, 1 AS is_update
  FROM assets AS n
  JOIN assets AS o ON o.id = n.id AND o.valid_to = n.valid_from
) AS events
GROUP BY night
ORDER BY night`,
  },
  {
    title: 'Versions of an asset',
    tables: ['assets', 'changes'],
    mode: 'nights',
    about:
      'From when to when each version of an asset held. Those of the first night have no beginning: they held before it.',
    sql: `SELECT id, valid_from, valid_to
FROM (
  SELECT id, op, night, valid_from, lead(valid_from) OVER (PARTITION BY id ORDER BY night) AS valid_to
  FROM (
    SELECT id, 'insert' AS op, day AS night, CAST(NULL AS TIMESTAMP) AS valid_from
    FROM assets
    WHERE day = (SELECT min(day) FROM assets)
    UNION ALL
    SELECT id, op, day AS night, CAST(changed_at AS TIMESTAMP) AS valid_from FROM changes
  ) AS events
) AS versions
WHERE op <> 'delete'
ORDER BY id, night
LIMIT 20`,
  },
  {
    title: 'Share frozen and compressed',
    tables: ['assets'],
    about: 'The share of frozen and of compressed assets in each collection, in percent.',
    sql: `SELECT
  collection,
  count(*) AS asset_count,
  100.0 * sum(CASE WHEN ownership_frozen THEN 1 ELSE 0 END) / count(*) AS frozen_percent,
  100.0 * sum(CASE WHEN compression_compressed THEN 1 ELSE 0 END) / count(*) AS compressed_percent
FROM assets
WHERE collection IS NOT NULL
GROUP BY collection
ORDER BY asset_count DESC, collection
LIMIT 20`,
  },
  ...childTables.map(listQuestion),
];

/** Builds the lists of a child table. A window keeps their order in every engine; an aggregate with ORDER BY has no common syntax. */
function listQuestion(table: Table): AnalystQuestion {
  const { name } = table;
  return {
    title: `List of ${name}`,
    tables: [name],
    about: `The \`${name}\` of each asset as one list.`,
    sql: `SELECT asset_id, elements
FROM (
  SELECT
    asset_id,
    position,
    array_agg((${membersOf(table)}))
      OVER (PARTITION BY asset_id ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS elements
  FROM ${name}
) AS lists
WHERE position = 0
ORDER BY asset_id`,
  };
}

function membersOf({ columns }: Table): string {
  return columns
    .slice(2)
    .map((column) => column.name)
    .join(', ');
}

const loadOf = {
  replace: '',
  scd2: ', loaded with `--mode scd2`',
  nights: ', as views that `schema --for ENGINE --nights PATTERN` prints',
} as const;

/** The questions as Markdown: what docs/questions.md holds below its introduction. Of the lists, it has one in full. */
export function questionsDocument(): string {
  const lists = childTables.map((table) => listQuestion(table).title);
  const others = childTables.slice(1).map((table) => `- \`${table.name}\`: \`${membersOf(table)}\`\n`);
  return [
    ...questions.filter(({ title }) => !lists.slice(1).includes(title)).map(questionText),
    `Other lists have the same query, with another table and its members. An asset without elements has no row:\n\n${others.join('')}`,
  ].join('\n');
}

function questionText({ title, tables, mode, about, sql }: AnalystQuestion): string {
  const needs = `Needs ${tables.map((table) => `\`${table}\``).join(' and ')}${loadOf[mode ?? 'replace']}.`;
  return `## ${title}\n\n${about} ${needs}\n\n\`\`\`sql\n${sql};\n\`\`\`\n`;
}
