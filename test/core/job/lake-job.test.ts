import { describe, expect, it } from 'vitest';
import { loadJob } from '../../../src/core/job/load-job.ts';

const given = { ids: 'ids.txt', url: 'https://service.example', lake: 'iceberg' };

function loaded(flags: Readonly<Record<string, unknown>>): () => unknown {
  return () => loadJob({ flags: { ...given, ...flags }, folder: '/work' });
}

describe('output.lake', () => {
  it('needs Parquet, and a day in the name of the export', () => {
    expect(loaded({ out: 'out/date={date}', format: 'parquet,csv' })).not.toThrow();
    expect(loaded({ out: 'out/date={date}', format: 'csv' })).toThrow('--format must name parquet for output.lake');
    expect(loaded({ out: 'out' })).toThrow('--out must have {date} for output.lake: each night is a snapshot');
  });

  it('may stay in the job of an export of the first ids, which is not published', () => {
    expect(loaded({ out: 'out', limit: '10' })).not.toThrow();
  });
});
