import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { faultSchema, refusalForms } from '../../packages/practice-service/src/faults/fault-schema.ts';
import { parseFaults } from '../../packages/practice-service/src/faults/load-faults.ts';
import { variables } from '../contract/service/target.ts';

const document = readFileSync(new URL('../../docs/service.md', import.meta.url), 'utf8');

describe('docs/service.md', () => {
  it.each(faultSchema.options.map((option) => [option.shape.fault.value, option] as const))(
    'lists the fault %s with each of its fields',
    (kind, option) => {
      const line = document.split('\n').find((each) => new RegExp(`^- \`${kind}\`[:,]`).test(each)) ?? '';
      const fields = Object.keys(option.shape).filter((field) => !['fault', 'when', 'charged'].includes(field));
      for (const field of fields) expect(line).toContain(`\`${field}\``);
    },
  );

  it('lists every form of a refusal, and the variables of the conformance suite', () => {
    for (const name of [...refusalForms, ...Object.values(variables)]) expect(document).toContain(name);
  });

  it('shows a fault file that the schema takes', () => {
    const [, example = ''] = /```yaml\n([^`]+)```/.exec(document) ?? [];
    expect(parseFaults(example, 'example').faults).toHaveLength(5);
  });
});
