import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { generatedSections, papers, withSections } from '../../docs/generated-sections.ts';

describe('the generated sections', () => {
  it.each(papers)('are current in %s (npm run docs renews them)', async (paper) => {
    const text = readFileSync(fileURLToPath(new URL(`../../${paper}`, import.meta.url)), 'utf8');
    expect(text).toContain('<!-- generated: ');
    expect(text).toBe(withSections(text, await generatedSections()));
  });

  it('have a known name', () => {
    expect(() => withSections('<!-- generated: weather -->\n<!-- end -->', new Map())).toThrow(
      'unknown section "weather"',
    );
  });
});
