// A process of its own that reads an answer of 64 MiB, as a small gzip may unpack to, so that a full heap ends it alone.
// Prints what came of it. Arguments: the text before, what is repeated, the text after, and what closes each.
import { IdList } from '../../../../src/core/ids/id-list.ts';
import { RecordRows } from '../../../../src/core/records/scan/record-rows.ts';
import { parseAnswer } from '../../../../src/core/client/wire/parse-answer.ts';

const [before = '', repeated = '', after = '', closing = ''] = process.argv.slice(2);
const body = Buffer.alloc(64 * 1024 * 1024, ' ');
const room = body.length - before.length - after.length;
const times = Math.floor(room / (repeated.length + closing.length));
const start = body.write(before);
const middle = start + times * repeated.length;
const end = middle + times * closing.length;
body.fill(repeated, start, middle);
if (closing !== '') body.fill(closing, middle, end);
body.write(after, end);
const ids = IdList.of(['11111111111111111111111111111111', '11111111111111111111111111111112']);
const flags = { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false };
const reader = (bytes: Uint8Array) => new RecordRows(bytes);
try {
  const answer = parseAnswer(body, { method: 'getAssets', ids, flags, part: 0, reader });
  console.log(answer.kind);
} catch (error) {
  if (!(error instanceof Error) || error.name !== 'MalformedAnswer') throw error;
  console.log(error.message);
}
