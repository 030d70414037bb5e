import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A key that must turn up nowhere. It holds what an address has to escape. */
export const canaryKey = 'canary-9f8e/key+with=odd?signs&%41';

/** The key as it is, as it stands in an address once and twice, in hexadecimal, and in base64 at each of the three places a byte can have. */
const plain = [
  canaryKey,
  encodeURIComponent(canaryKey),
  encodeURIComponent(encodeURIComponent(canaryKey)),
  encodeURI(canaryKey),
  Buffer.from(canaryKey).toString('hex'),
  ...[0, 1, 2].map((before) =>
    Buffer.from(`${'x'.repeat(before)}${canaryKey}`)
      .toString('base64')
      .slice(before === 0 ? 0 : 4, -4),
  ),
];

const forms = [...new Set([...plain, ...plain.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))])];

/** The forms of the key that stand in a text or in bytes. */
export function canariesIn(text: string | Uint8Array): string[] {
  const bytes = Buffer.from(text);
  const small = Buffer.from(bytes.toString('latin1').toLowerCase(), 'latin1');
  return forms.filter((form) => bytes.includes(form) || small.includes(form.toLowerCase()));
}

/** Files under a folder that hold the key in some form, in their bytes or their name. */
export function filesWithCanary(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter(
    (name) =>
      canariesIn(name).length > 0 ||
      (statSync(join(folder, name)).isFile() && canariesIn(readFileSync(join(folder, name))).length > 0),
  );
}

/** Everything that an error could show, its causes included. */
export function everythingSaid(error: unknown): string {
  if (error === undefined) return '';
  if (!(error instanceof Error)) return JSON.stringify(error);
  const own = Object.getOwnPropertyNames(error).map((name) => JSON.stringify(error[name as keyof Error]));
  return [String(error), ...own, error.cause === undefined ? '' : everythingSaid(error.cause)].join('\n');
}
