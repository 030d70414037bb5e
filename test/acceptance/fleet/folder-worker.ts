/**
 * `enqueue` and `work` on a folder as a bucket, as a program of its own:
 *
 *     node --import ts-blank-space/register test/acceptance/folder-worker.ts work --ids … --out s3://folder/… --shard 0/4
 */
import { ExportError } from '../../../src/lib/export-error.ts';
import { bucketInFolder } from '../../support/bucket-in-folder.ts';
import { steps } from '../../model/support/small-fleet.ts';
import { runExport } from '../../support/run-export.ts';
import { folderAddress } from './folder-address.ts';

const [command = '', ...args] = process.argv.slice(2);
const flags = Object.fromEntries(
  args.flatMap((name, index) => (index % 2 === 0 ? [[name.slice(2), args[index + 1] ?? '']] : [])),
);
const { shard = '0/1', ...others } = flags;
const [index = 0, count = 1] = shard.split('/').map(Number);

try {
  const outcome = await runExport({
    flags: { scratch: process.env['ASSET_EXPORT_SCRATCH'], ...others },
    make: command === 'enqueue' ? steps.enqueue() : steps.work({ index, count }),
    context: {
      openStore: ({ address }) => Promise.resolve(bucketInFolder(folderAddress.folder(address))),
      service: { url: others['url'] ?? '', apiKey: process.env['ASSET_EXPORT_API_KEY'] ?? '' },
    },
  });
  if (command === 'work' && outcome.error !== undefined) throw outcome.error;
} catch (error) {
  process.stderr.write(error instanceof ExportError ? `${error.exit}: ${error.message}\n` : String(error));
  process.exitCode = 1;
}
