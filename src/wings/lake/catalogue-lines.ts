import type { PublishedTable, PublishedTables } from '../../core/work/run-observer.ts';
import { encodedAddress } from '../../lib/addresses/address-kinds.ts';
import { shellWord } from '../../lib/addresses/shown-text.ts';
import { escapedLiteral, literal } from '../../lib/sql-text.ts';
import { lastName } from './table-files.ts';

/** Engines whose catalogues can name a table of the lake. */
export const catalogueEngines = ['trino', 'snowflake', 'bigquery', 'athena', 'spark', 'duckdb', 'clickhouse'] as const;
export type CatalogueEngine = (typeof catalogueEngines)[number];

/** The lines that have a catalogue know a table, or its newest version. NAMES in capitals are the reader's own. `root`: what its address begins with. */
const lines: Readonly<
  Record<CatalogueEngine, (table: PublishedTable & Readonly<Record<'name' | 'location' | 'root', string>>) => string[]>
> = {
  trino: ({ name, location, metadata }) => [
    `CALL CATALOG.system.unregister_table(schema_name => 'SCHEMA', table_name => ${literal(name)});`,
    `CALL CATALOG.system.register_table(schema_name => 'SCHEMA', table_name => ${literal(name)}, table_location => ${literal(location)}, metadata_file_name => ${literal(lastName(metadata))});`,
  ],
  spark: ({ name, metadata }) => [
    `DROP TABLE IF EXISTS CATALOG.SCHEMA.${name};`,
    `CALL CATALOG.system.register_table(table => 'SCHEMA.${name}', metadata_file => ${escapedLiteral(metadata)});`,
  ],
  snowflake: ({ name, metadata, root }) => {
    const path = escapedLiteral(metadata.slice(root.length + 1));
    return [
      `CREATE ICEBERG TABLE IF NOT EXISTS ${name} EXTERNAL_VOLUME = 'VOLUME' CATALOG = 'OBJECT_STORE_CATALOG' METADATA_FILE_PATH = ${path};`,
      `ALTER ICEBERG TABLE ${name} REFRESH ${path};`,
    ];
  },
  bigquery: ({ name, metadata }) => [
    `CREATE OR REPLACE EXTERNAL TABLE DATASET.${name} WITH CONNECTION \`REGION.CONNECTION\` OPTIONS (format = 'ICEBERG', uris = [${escapedLiteral(metadata)}]);`,
  ],
  athena: ({ name, location, metadata }) => {
    const input = {
      Name: name,
      TableType: 'EXTERNAL_TABLE',
      Parameters: { table_type: 'ICEBERG', metadata_location: metadata },
      StorageDescriptor: { Location: location },
    };
    const word = shellWord(JSON.stringify(input));
    return [
      `aws glue create-table --database-name DATABASE --table-input ${word}`,
      `aws glue update-table --database-name DATABASE --table-input ${word}`,
    ];
  },
  duckdb: ({ name, metadata }) => [
    `CREATE OR REPLACE VIEW ${name} AS SELECT * FROM iceberg_scan(${literal(metadata)});`,
  ],
  clickhouse: ({ name, location }) => {
    const { engine, note } = clickhouseEngine(location);
    return [...note, `CREATE OR REPLACE TABLE ${name} ENGINE = ${engine};`];
  },
};

/** What stands before the lines of an engine. */
const heads: Readonly<Record<CatalogueEngine, string>> = {
  trino: '-- CATALOG uses the connector iceberg; unregister_table fails the first time, when there is no table yet.',
  spark: '-- CATALOG is an Iceberg catalogue. DROP TABLE without PURGE leaves all files.',
  snowflake: '-- VOLUME is an external volume on the root of the lake. REFRESH takes up each night.',
  bigquery: '-- A connection reads the bucket. Run it again after each night.',
  athena: '# create-table once, update-table after each night.',
  duckdb: '-- Needs: INSTALL iceberg; LOAD iceberg; Run it again after each night.',
  clickhouse: '-- The table follows the newest version by itself.',
};

function clickhouseEngine(location: string): { readonly engine: string; readonly note: readonly string[] } {
  const [, scheme, rest = ''] = /^(s3|gs|abfss):\/\/(.*)$/.exec(location) ?? [];
  if (scheme === undefined) return { engine: `IcebergLocal(${escapedLiteral(`${location}/`)})`, note: [] };
  if (scheme === 'abfss') {
    const [, container = '', account = '', path = ''] = /^([^@]+)@([^.]+)\.[^/]+\/(.*)$/.exec(rest) ?? [];
    const words = [container, `${path}/`].map(escapedLiteral).join(', ');
    return {
      engine: `IcebergAzure('CONNECTION_STRING', ${words})`,
      note: [`-- CONNECTION_STRING: of the account ${account}.`],
    };
  }
  const [bucket = '', ...path] = rest.split('/');
  const url =
    scheme === 's3'
      ? `https://${bucket}.s3.amazonaws.com/${path.join('/')}/`
      : `https://storage.googleapis.com/${rest}/`;
  return { engine: `IcebergS3(${escapedLiteral(encodedAddress(url))}, 'KEY', 'SECRET')`, note: [] };
}

/** The lines that a catalogue takes, of all tables. @param root the address that readers use for the root */
export function catalogueText(engine: CatalogueEngine, tables: PublishedTables, root: string): string {
  const all = Object.entries(tables).flatMap(([name, table]) => {
    const location = table.metadata.slice(0, table.metadata.indexOf('/metadata/', root.length));
    return lines[engine]({ ...table, name, location, root });
  });
  return `${[heads[engine], ...all].join('\n')}\n`;
}
