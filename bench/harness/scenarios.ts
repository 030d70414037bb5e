/** What is run whole, as a process of its own, beside others. */
export interface Scenario {
  readonly name: string;
  readonly program: 'asset-export' | 'bare-loop.mjs' | 'duckdb-copy.ts';
  /** Of `asset-export`; the format of `duckdb-copy.ts`. */
  readonly flags?: readonly string[];
  /** Of those that have several; 1 unless told. */
  readonly threads?: number;
  /** The service is 100 ms away. */
  readonly far?: boolean;
  /** The records are those of `--records`. */
  readonly real?: boolean;
}

/** Far enough to matter, near enough that 16 calls in flight of 1,000 ids bring 160,000 assets a second. */
export const latencyMs = 100;

const allTables = ['--tables', 'assets,creators,authorities,grouping,collections,files,attributes'];

function exported(name: string, format: string): Scenario {
  return { name, program: 'asset-export', flags: ['--format', format] };
}

function withAllTables(scenario: Scenario): Scenario {
  return { ...scenario, flags: [...(scenario.flags ?? []), ...allTables] };
}

/** What the others are compared with. */
const bareLoop: Scenario = { name: 'bare loop', program: 'bare-loop.mjs' };

/** The same with the records of `--records`. */
function ofRealRecords(scenario: Scenario): Scenario {
  return { ...scenario, name: onReal(scenario.name), real: true };
}

/** The name of a scenario with the records of `--records`. */
export function onReal(name: string): string {
  return `${name}, real records`;
}

function copiedTo(name: string, format: string): Scenario {
  return { name: `DuckDB COPY to ${name}`, program: 'duckdb-copy.ts', flags: [format] };
}

export const scenarios: readonly Scenario[] = [
  bareLoop,
  exported('CSV', 'csv'),
  { ...exported('CSV, 100 ms away', 'csv'), far: true },
  withAllTables(exported('CSV, all tables', 'csv')),
  exported('JSONL', 'jsonl'),
  withAllTables(exported('JSONL, all tables', 'jsonl')),
  exported('Parquet', 'parquet'),
  copiedTo('Parquet', 'parquet'),
  // Threads take whole parts.
  {
    name: 'CSV, 2 threads',
    program: 'asset-export',
    flags: ['--format', 'csv', '--rows-per-part', '20000'],
    threads: 2,
  },
  ...[
    bareLoop,
    exported('CSV', 'csv'),
    exported('JSONL', 'jsonl'),
    exported('Parquet', 'parquet'),
    copiedTo('CSV', 'csv'),
    copiedTo('JSONL', 'json'),
    copiedTo('Parquet', 'parquet'),
  ].map(ofRealRecords),
];

/** The scenario of that name. @throws when there is none. */
export function scenarioOf(name: string): Scenario {
  const scenario = scenarios.find((each) => each.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario "${name}"`);
  return scenario;
}
