import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, type ServiceOptions, startService } from '../../src/practice-service.ts';

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Writes lines to a file of its own and returns its path. */
export function fileOf(lines: readonly string[], name = 'assets.jsonl'): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}

/** Starts the service on these record texts; it ends with the test. */
export async function serve(
  records: readonly string[],
  options: Partial<ServiceOptions> = {},
): Promise<RunningService> {
  const service = await startService({
    assets: [fileOf(records)],
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    ...options,
  });
  onTestFinished(() => service.close());
  return service;
}

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly headers: Headers;
  readonly text: string;
}

/** Posts a body, text as it is and anything else as JSON. */
export async function post(service: RunningService, body: unknown, key = 'key'): Promise<Reply> {
  const response = await fetch(`${service.url}/v3/${key}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type, headers: response.headers, text: await response.text() };
}

/** Calls a method and returns the text of the answer. */
export async function call(service: RunningService, method: string, params: unknown): Promise<string> {
  return (await post(service, { jsonrpc: '2.0', id: 1, method, params })).text;
}

/** Asset ids by number: distinct keys of 32 bytes in base58. */
export function idOf(number: number): string {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  let value = (1n << 250n) + BigInt(number);
  let text = '';
  for (; value > 0n; value /= 58n) text = (alphabet[Number(value % 58n)] ?? '') + text;
  return text;
}
