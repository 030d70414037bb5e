/**
 * The generated service as a program of its own, so that a measured export and its answers do not share a core.
 *
 *     node --import ts-blank-space/register test/support/load-service.ts --missing-percent 2 --delay-ms 100
 *
 * Prints its address as the first line on stdout; stops on SIGTERM, SIGINT, or the end of stdin (`--until-stdin-ends`).
 */
import { parseArgs } from 'node:util';
import { type GeneratedServiceOptions, startGeneratedService } from './generated-service.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    seed: { type: 'string', default: '0' },
    'missing-percent': { type: 'string', default: '0' },
    'missing-omitted': { type: 'boolean', default: false },
    shuffled: { type: 'boolean', default: false },
    'repeated-percent': { type: 'string', default: '0' },
    'delay-ms': { type: 'string', default: '0' },
    'jitter-ms': { type: 'string', default: '0' },
    'max-ids': { type: 'string', default: '1000' },
    'cache-mib': { type: 'string', default: '64' },
    'prepared-records': { type: 'string', default: '0' },
    'until-stdin-ends': { type: 'boolean', default: false },
  },
});

const options: GeneratedServiceOptions = {
  port: Number(values.port),
  seed: Number(values.seed),
  missingPercent: Number(values['missing-percent']),
  missingAs: values['missing-omitted'] ? 'omitted' : 'null',
  shuffled: values.shuffled,
  repeatedPercent: Number(values['repeated-percent']),
  delayMs: Number(values['delay-ms']),
  jitterMs: Number(values['jitter-ms']),
  maxIds: Number(values['max-ids']),
  cacheBytes: Number(values['cache-mib']) * 2 ** 20,
  preparedRecords: Number(values['prepared-records']),
};

const service = await startGeneratedService(options);
const stop = (): void => void service.stop();
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
if (values['until-stdin-ends']) process.stdin.on('end', stop).resume();
process.stdout.write(`${service.url}\n`);
