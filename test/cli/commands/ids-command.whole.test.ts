import { describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const records = fileURLToPath(new URL('../../../data/assets.jsonl.gz', import.meta.url));
const collection = '8Fv4CJQJRuDUaawPWRxD6yXAF1Zdf8K22FUiMj8RXwSe';

async function ids(...more: string[]) {
  const cwd = await tempFolder();
  const words = ['ids', '--collection', collection, '--url', `embedded:${records}`, '--out', 'few.txt', ...more];
  return runHere(words, { cwd, environment: { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: cwd } });
}

describe('ids', () => {
  it.each(['--show-fungible', '--unverified'])('names the flag that a dialect does not know: %s', async (flag) => {
    const { exit, stderr } = await ids('--dialect', 'triton', flag);
    expect(exit).toBe(2);
    expect(stderr).toContain(`the dialect triton has no ${flag} for lists by collection\n`);
  });

  it.each(['ids-per-call', 'credits-per-call', 'show-unverified-collections', 'singles'])(
    'takes no flag of calls for ids: --%s',
    async (flag) => {
      const { exit, stderr } = await ids('--dialect', 'helius', `--${flag}`);
      expect(exit).toBe(2);
      expect(stderr).toContain(`unknown flag for ids: --${flag}`);
    },
  );

  it('ends its log in JSON where it is stopped', async () => {
    const { exit, stdout, stderr } = await ids('--dialect', 'helius', '--credits-per-run', '10', '--json');
    expect(exit).toBe(8);
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string });
    expect(lines.at(-1)).toMatchObject({ level: 'error', msg: 'list ended', state: 'error', exitCode: 8 });
    expect(JSON.parse(stdout)).toMatchObject({ state: 'error', exitCode: 8, error: { code: 'spent' } });
  });
});
