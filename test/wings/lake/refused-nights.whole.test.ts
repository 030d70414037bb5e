import { expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

it('a folder without a night is refused alike by the check and by --publish', async () => {
  const empty = await tempFolder();
  for (const more of [[], ['--publish'], ['--for', 'trino'], ['--json']]) {
    const { exit, stderr } = await runHere(['lake', empty, ...more]);
    expect(exit).toBe(2);
    expect(stderr).toContain('has no complete export whose folder names a day');
    expect(stderr).not.toContain('--publish');
  }
});
