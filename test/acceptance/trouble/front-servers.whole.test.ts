import { describe, expect, it, onTestFinished } from 'vitest';
import { type FrontServer, isInstalled, startHaproxy, startNginx } from './front-server.ts';
import { runInTrouble, type TroubleRun } from './trouble-run.ts';

const calls = 20;

async function expectCheap(
  start: (port: number) => Promise<FrontServer>,
  run: Partial<TroubleRun> = {},
): Promise<void> {
  const through = async (port: number): Promise<string> => {
    const front = await start(port);
    onTestFinished(() => front.stop());
    return front.url;
  };
  const { end, sent, outcome } = await runInTrouble({ calls, through, ...run });
  const what = `${sent} calls: ${outcome.error?.message ?? ''}`;
  expect(end, what).toBe('complete');
  expect(sent, what).toBeLessThanOrEqual(1.5 * calls + 16);
  expect(outcome.account.counts, what).toMatchObject({ exported: calls * 10, missing: 0, failed: 0 });
}

describe.skipIf(!isInstalled('nginx'))('nginx in front of the service', () => {
  it('with a limit of 5 requests a second costs few calls', async () => {
    const zones = 'limit_req_zone $server_name zone=all:1m rate=5r/s;';
    await expectCheap((port) => startNginx(port, { zones, location: 'limit_req zone=all;' }));
  });

  it('with a limit of 2 connections costs few calls', async () => {
    const zones = 'limit_conn_zone $server_name zone=all:1m;';
    await expectCheap((port) => startNginx(port, { zones, location: 'limit_conn all 2;' }), { ms: 100 });
  });
});

describe.skipIf(!isInstalled('haproxy'))('haproxy in front of the service', () => {
  it('with one connection and a queue costs few calls', async () => {
    await expectCheap((port) => startHaproxy(port, 'maxconn 1 maxqueue 2'), { ms: 150 });
  });
});
