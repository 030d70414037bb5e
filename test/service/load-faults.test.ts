import { describe, expect, it } from 'vitest';
import { readFaultFile, parseFaults } from '../../packages/practice-service/src/faults/load-faults.ts';
import { fileOf } from './local-service.ts';

describe('a fault file', () => {
  it('is YAML of a seed and a list of faults, with what is not said filled in', async () => {
    const path = fileOf([
      'seed: 4',
      'faults:',
      '  - { fault: latency, ms: 20 }',
      '  - fault: gzip',
      '    when: { every: 3 }',
    ]);
    expect(await readFaultFile(path)).toEqual({
      seed: 4,
      faults: [
        { fault: 'latency', ms: 20, jitterMs: 0 },
        { fault: 'gzip', cut: false, when: { every: 3 } },
      ],
    });
  });

  it.each([
    ['faults: [{ fault: nonsense }]', 'f.yaml at faults[0].fault: unknown fault; the faults are latency, status,'],
    ['faults: [{ fault: latency }]', 'f.yaml at faults[0].ms: '],
    ['faults: [{ fault: html, whenn: {} }]', 'f.yaml at faults[0]: Unrecognized key: "whenn"'],
    ['faults: [{ fault: poison, ids: [11111111111111111111111111111111] }]', 'f.yaml at faults[0].ids[0]: '],
    ['faults: [{ fault: reset, when: { probability: 2 } }]', 'f.yaml at faults[0].when.probability: '],
    ['faults: [', 'f.yaml:1: '],
  ])('%s is refused with the place', (content, words) => {
    expect(() => parseFaults(content, 'f.yaml')).toThrow(words);
  });

  it('that is missing is said to be', async () => {
    await expect(readFaultFile('/nowhere/f.yaml')).rejects.toThrow(
      'cannot read the fault file /nowhere/f.yaml: no such file',
    );
  });
});
