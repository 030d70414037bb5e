import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { ExportOutcome } from '../../../src/core/run/complete-export.ts';
import { generatedId } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { answerBody, recordText } from '../../core/client/support/calls.ts';
import { reply, type Respond, startRoughServer } from '../../core/client/support/rough-server.ts';
import { runExport } from '../../support/run-export.ts';
import { keptFolder } from '../../support/temp-folder.ts';

/** What the server does with a call: false when it has answered itself, else the call is answered as it should be. */
export type Meddle = (call: {
  readonly response: ServerResponse;
  readonly ids: readonly string[];
  /** From 1. */
  readonly n: number;
  /** Seconds since the first call. */
  readonly seconds: number;
  /** Calls that wait for their answer, this one included. */
  readonly atOnce: number;
}) => boolean | Promise<boolean>;

export interface TroubleRun {
  readonly calls: number;
  readonly idsPerCall?: number;
  readonly meddle?: Meddle;
  /** How long a good answer takes, in milliseconds. */
  readonly ms?: number;
  /** In front of the service; default none. */
  readonly through?: (port: number) => Promise<string>;
  readonly flags?: Readonly<Record<string, string>>;
}

export interface TroubleEnd {
  /** `complete`, or what ended the run. */
  readonly end: string;
  /** Calls that reached the service, or what stands in front of it. */
  readonly sent: number;
  readonly outcome: ExportOutcome;
}

/** An export of so many calls from a server on loopback that is in trouble. */
export async function runInTrouble(run: TroubleRun): Promise<TroubleEnd> {
  const { calls, idsPerCall = 10, meddle = () => true, ms = 20, through, flags = {} } = run;
  const state = { atOnce: 0, beganMs: Number.NaN };
  const closing: (() => Promise<void>)[] = [];
  const respond: Respond = async (response, { body }, n) => {
    if (Number.isNaN(state.beganMs)) state.beganMs = performance.now();
    state.atOnce += 1;
    const { params } = JSON.parse(body) as { params: [string[]] };
    const seconds = (performance.now() - state.beganMs) / 1000;
    const isMine = await meddle({ response, ids: params[0], n, seconds, atOnce: state.atOnce });
    if (isMine) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      reply(response, { body: answerBody(params[0].map(recordText)) });
    }
    state.atOnce -= 1;
  };
  const server = await startRoughServer(respond, (close) => closing.push(close));
  const { path: folder, remove } = await keptFolder();
  closing.push(remove);
  const ids = Array.from({ length: calls * idsPerCall }, (_, n) => generatedId(37, n));
  await writeFile(join(folder, 'ids.txt'), `${ids.join('\n')}\n`);
  let sent = 0;
  const work = runExport({
    flags: {
      ids: join(folder, 'ids.txt'),
      out: join(folder, 'out'),
      format: 'csv',
      'ids-per-call': String(idsPerCall),
      url: through === undefined ? server.url : await through(server.port),
      ...flags,
    },
    context: {
      random: Math.random,
      listener: ({ kind }) => {
        if (kind === 'sent') sent += 1;
      },
    },
  });
  try {
    const outcome = await work;
    return { end: outcome.error?.exit ?? outcome.state, sent, outcome };
  } finally {
    await Promise.all(closing.map((close) => close()));
  }
}
