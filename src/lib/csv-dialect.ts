/** How CSV is written for one reader. In each, null and the empty string (`""`) are distinct. */
export interface CsvDialect {
  /** What stands for null, never quoted; a text that reads the same is quoted. */
  readonly nullText: string;
  /** Quote every text, also where RFC 4180 needs none. */
  readonly quoteTexts: boolean;
}

/** Each is pinned to the load statement of its warehouse (src/wings/warehouse). */
export const csvDialects = {
  rfc4180: { nullText: '', quoteTexts: false },
  // LOAD DATA reads an empty cell as null and "" as the empty string.
  bigquery: { nullText: '', quoteTexts: false },
  // EMPTY_FIELD_AS_NULL is about bare cells only.
  snowflake: { nullText: '', quoteTexts: true },
  // COPY has one text for null; a bare empty cell would be the empty string.
  redshift: { nullText: '\\N', quoteTexts: true },
  // A bare \. on a line of its own ends the data.
  postgres: { nullText: '', quoteTexts: true },
  // A bare \N is null, whatever the settings say of empty cells.
  clickhouse: { nullText: '\\N', quoteTexts: true },
} as const satisfies Record<string, CsvDialect>;

export type CsvDialectName = keyof typeof csvDialects;

export const csvDialectNames = Object.keys(csvDialects) as CsvDialectName[];

/** The dialect of that name; RFC 4180 for every other. */
export function csvDialectNamed(name: unknown): CsvDialectName {
  return csvDialectNames.find((each) => each === name) ?? 'rfc4180';
}
