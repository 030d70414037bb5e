import type { ExportOutcome } from '../../../src/core/run/complete-export.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { SmallExport, type SmallRun } from './small-export.ts';

/** The small export in a bucket in memory, made by processes with disks of their own. Slices have two parts. */
export class SmallBucket extends SmallExport {
  readonly bucket: MemoryObjects;
  readonly #others: ReadonlyMap<string, MemoryObjects>;

  /** @param bucket shared with processes elsewhere @param others that are only read, by their addresses */
  constructor(idsPath: string, bucket = new MemoryObjects(), others: ReadonlyMap<string, MemoryObjects> = new Map()) {
    super(idsPath);
    this.bucket = bucket;
    this.#others = others;
  }

  /** Time passes only while all wait. */
  override async run({ startMs = Date.UTC(2026, 2, 14), ...run }: SmallRun = {}): Promise<ExportOutcome | undefined> {
    const clock = createFakeClock(startMs);
    const { disk } = this;
    const store = this.bucket.open(
      ({ name }, when) => {
        if (when === 'before') disk.meets({ kind: 'store', path: name });
      },
      async (file) => (await disk.files.readAll(file)) ?? Buffer.of(),
    );
    const flags = { out: 's3://bucket/small', scratch: '/scratch', 'entries-per-slice': '12', ...run.flags };
    const context = {
      clock,
      openStore: async ({ address = '' }) => this.#others.get(address)?.open() ?? store,
      ...run.context,
    };
    const ended = super.run({ ...run, flags, context });
    return run.context?.clock === undefined ? clock.runUntil(ended, 'wait') : ended;
  }

  override published(): Map<string, { content(): Buffer }> {
    const all = [...this.bucket.objects].filter(([name]) => !name.startsWith('.run/') && name !== 'runs.jsonl');
    return new Map(all.map(([name, { bytes }]) => [name, { content: () => Buffer.from(bytes) }]));
  }
}
