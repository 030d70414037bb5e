import { expect, it } from 'vitest';
import { stateText } from '../../src/cli/output/status-text.ts';

it.each([
  [0, 'complete'],
  [3, 'complete (exit 3)'],
])('a complete export whose last run ended with %i is %s', (exit, text) => {
  expect(stateText({ state: 'complete', waitingUntil: null, exit, rate: null })).toBe(text);
});
