import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { hasContainers, saidBy, startInContainer } from '../support/container.ts';
import { fileOf, temporaryFolder } from './local-service.ts';

const ids = Array.from({ length: 300 }, (_, n) => generatedId(2, n));

const program = `
  const [, serviceModule, assets, storeDir, id] = process.argv;
  const { startService } = await import(serviceModule);
  const clock = { now: () => 0, monotonic: () => performance.now(), sleep: () => Promise.resolve() };
  const options = { host: '127.0.0.1', port: 0, clock, creditsPerDay: 4800, storeDir };
  const service = await startService({ ...options, assets: [assets] });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAsset', params: [id] });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(service.url + '/v3/key', { method: 'POST', headers, body });
  console.log(process.pid, service.assets, answer.status, (await answer.json()).result.id);`;

it.runIf(hasContainers)('a store is shared by services in containers, whose processes have the same pid', async () => {
  const module = new URL('../../dist/index.js', import.meta.url).href;
  const storeDir = temporaryFolder();
  const args = [module, fileOf(ids.map(generatedRecord)), storeDir, ids[7] ?? ''];
  const services = [1, 2, 3].map(() => startInContainer(program, args));
  expect(await Promise.all(services.map(saidBy))).toEqual(services.map(() => `1 300 200 ${ids[7] ?? ''}`));
  expect(readdirSync(storeDir)).toEqual([expect.stringMatching(/^assets-/), 'balances']);
});
