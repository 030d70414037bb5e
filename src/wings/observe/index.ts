export { observeRuns } from './observe-runs.ts';
export { requireListening } from './publish-metrics.ts';
