import { someIdsOf } from '../../core/job/job-schema.ts';
import { appendFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { exitCodes } from '../../lib/exit-codes.ts';
import { messageOf } from '../../lib/export-error.ts';
import type { FileFacts } from '../../places/export/export-facts.ts';
import type { RunEvent } from '../../core/work/run-events.ts';
import type { ObservedRun, RunEnd, RunObserver, TableQuality } from '../../core/work/run-observer.ts';
import { tablesOf } from '../../core/work/tables-of.ts';
import { Delivery } from './deliver.ts';
import { runName } from './run-name.ts';

/** Variables that OpenLineage clients share. */
type LineageEnvironment = Readonly<Record<string, string | undefined>>;

const specification = 'https://openlineage.io/spec';

/** Where events go: the job's address, else the one of the environment. Undefined: nowhere. */
export function lineageAddress(run: ObservedRun, environment: LineageEnvironment): string | undefined {
  const { url } = run.job.lineage;
  const shared = environment['OPENLINEAGE_URL']?.trim() ?? '';
  if (url !== undefined) return /^file:/i.test(url) || new URL(url).pathname.length > 1 ? url : endpointOf(url);
  return shared === '' || !URL.canParse(shared) ? undefined : endpointOf(shared);
}

function endpointOf(base: string): string {
  return `${base.replace(/\/+$/, '')}/api/v1/lineage`;
}

/** Sends a START event, and COMPLETE, FAIL or ABORT at the end. */
export function lineageOf(run: ObservedRun, address: string, environment: LineageEnvironment): RunObserver {
  const receiver = /^file:/i.test(address)
    ? fileReceiver(run, filePath(address))
    : httpReceiver(run, address, environment);
  const events = new LineageEvents(run, environment);
  let hasStarted = false;
  const start = (event?: RunEvent): void => {
    if (hasStarted) return;
    hasStarted = true;
    receiver.send(events.start(event));
  };
  return {
    listener: (event) => {
      // Of workers only the one that completes the export tells of it.
      if (event.kind === 'opened' && run.worker === undefined) start(event);
    },
    end: async (end) => {
      if (run.worker !== undefined && (end.isElsewhere === true || end.state !== 'complete')) return;
      start();
      await receiver.sendLast(events.end(end));
    },
  };
}

interface Receiver {
  send(event: object): void;
  sendLast(event: object): Promise<void>;
}

function httpReceiver({ clock, abort, listener }: ObservedRun, url: string, environment: LineageEnvironment): Receiver {
  const delivery = new Delivery({ what: 'a lineage event', clock, abort, listener });
  const key = environment['OPENLINEAGE_API_KEY'] ?? '';
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` };
  const message = (event: object) => ({ url, body: JSON.stringify(event), headers });
  return {
    send: (event) => {
      void delivery.send(message(event));
    },
    sendLast: async (event) => {
      await delivery.sendLast(message(event));
    },
  };
}

function fileReceiver({ listener }: ObservedRun, path: string): Receiver {
  let queue: Promise<void> = Promise.resolve();
  let hasWarned = false;
  const send = (event: object): Promise<void> => {
    queue = queue
      .then(() => appendFile(path, `${JSON.stringify(event)}\n`))
      .catch((error: unknown) => {
        if (!hasWarned)
          listener({
            kind: 'warning',
            message: `a lineage event could not be written: ${messageOf(error).replaceAll(path, 'the file')}`,
          });
        hasWarned = true;
      });
    return queue;
  };
  return {
    send: (event) => {
      void send(event);
    },
    sendLast: send,
  };
}

function filePath(address: string): string {
  return /^file:\/\//i.test(address) ? fileURLToPath(address) : address.slice('file:'.length);
}

class LineageEvents {
  readonly #run: ObservedRun;
  readonly #environment: LineageEnvironment;
  #inputs: readonly { readonly name: string; readonly bytes: number }[] = [];

  constructor(run: ObservedRun, environment: LineageEnvironment) {
    this.#run = run;
    this.#environment = environment;
  }

  start(opened: RunEvent | undefined): object {
    if (opened?.kind === 'opened') this.#inputs = opened.inputs ?? [];
    return this.#event('START', this.#inputDatasets(), this.#outputDatasets());
  }

  end({ exit, error, account, quality }: RunEnd): object {
    const type = eventType(exit);
    const facets = type === 'FAIL' ? { errorMessage: errorFacet(error) } : {};
    const isWhole = type === 'COMPLETE';
    const entries = new Map(isWhole ? account?.inputs.map(({ name, entries }) => [name, entries]) : []);
    const outputs = this.#outputDatasets(account?.files ?? [], isWhole ? quality : undefined);
    return this.#event(type, this.#inputDatasets(entries), outputs, facets);
  }

  #event(eventType: string, inputs: readonly object[], outputs: readonly object[], facets: object = {}): object {
    const { run, job, clock } = this.#run;
    const namespace = this.#environment['OPENLINEAGE_NAMESPACE'] ?? '';
    const parent = parentFacet(this.#environment['OPENLINEAGE_PARENT_ID']);
    return {
      eventType,
      eventTime: new Date(clock.now()).toISOString(),
      producer: producerOf(this.#run),
      schemaURL: `${specification}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
      run: { runId: run, facets: { ...(parent === undefined ? {} : { parent }), ...limitFacet(job), ...facets } },
      job: { namespace: namespace === '' ? 'default' : namespace, name: runName(job) },
      inputs,
      outputs,
    };
  }

  #inputDatasets(entries: ReadonlyMap<string, number> = new Map()): object[] {
    return this.#inputs.map(({ name, bytes }) => {
      const rowCount = entries.get(name);
      const statistics = { ...(rowCount === undefined ? {} : { rowCount }), size: bytes };
      const inputStatistics = facet('1-0-0', 'InputStatisticsInputDatasetFacet', statistics);
      return { namespace: 'file', name, inputFacets: { inputStatistics } };
    });
  }

  #outputDatasets(files?: readonly FileFacts[], quality: readonly TableQuality[] = []): object[] {
    const { job, startedAtMs } = this.#run;
    return tablesOf(job, { startedAtMs }).map(({ table }) => {
      const fields = table.columns.map(({ name, type, about }) => ({ name, type, description: about }));
      const schema = facet('1-1-1', 'SchemaDatasetFacet', { fields });
      const own = files?.filter((file) => file.table === table.name && !file.path.startsWith('unexported/'));
      const dataset = {
        namespace: 'file',
        name: pathToFileURL(resolve(job.output.dir, table.name)).pathname,
        facets: { schema, ...qualityFacet(quality.find(({ name }) => name === table.name)) },
      };
      return own === undefined ? dataset : { ...dataset, outputFacets: { outputStatistics: statisticsOf(own) } };
    });
  }
}

function eventType(exit: number): 'COMPLETE' | 'FAIL' | 'ABORT' {
  if (exit === exitCodes.complete.code) return 'COMPLETE';
  const aborted = [exitCodes.spent, exitCodes.hungUp, exitCodes.interrupted, exitCodes.terminated].map(
    ({ code }) => code as number,
  );
  return aborted.includes(exit) ? 'ABORT' : 'FAIL';
}

/** Every format holds the same rows. */
function statisticsOf(files: readonly FileFacts[]): object {
  const formats = [...new Set(files.map(({ format }) => format))];
  const ofOne = files.filter(({ format }) => format === formats[0]);
  const rowCount = ofOne.reduce((sum, { rows }) => sum + rows, 0);
  const size = files.reduce((sum, { bytes }) => sum + bytes, 0);
  return facet('1-0-2', 'OutputStatisticsOutputDatasetFacet', { rowCount, size, fileCount: files.length });
}

function qualityFacet(table: TableQuality | undefined): object {
  if (table === undefined) return {};
  const { rows: rowCount, columns } = table;
  const columnMetrics = Object.fromEntries(
    columns.map(({ name, filled, distinct }) => [
      name,
      { nullCount: rowCount - filled, count: filled, ...(distinct === null ? {} : { distinctCount: distinct }) },
    ]),
  );
  return { dataQualityMetrics: facet('1-0-0', 'DataQualityMetricsDatasetFacet', { rowCount, columnMetrics }) };
}

/** Of an export of the first ids. */
function limitFacet({ ids }: ObservedRun['job']): object {
  const limit = someIdsOf(ids);
  if (limit === undefined) return {};
  const tag = { key: 'limit', value: String(limit), source: 'asset-export' };
  return { tags: facet('1-0-0', 'TagsRunFacet', { tags: [tag] }) };
}

function errorFacet(message = 'unknown'): object {
  return facet('1-0-1', 'ErrorMessageRunFacet', { message, programmingLanguage: 'JavaScript' });
}

/** `namespace/job/run`, as Airflow's `lineage_parent_id` macro writes it: the namespace may hold slashes. */
function parentFacet(text = ''): object | undefined {
  const [, namespace = '', name = '', runId = ''] =
    /^(.+)\/([^/]+)\/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/i.exec(text.trim()) ?? [];
  return runId === '' ? undefined : facet('1-0-1', 'ParentRunFacet', { run: { runId }, job: { namespace, name } });
}

function facet(version: string, name: string, members: object): object {
  return {
    _producer: 'urn:asset-export',
    _schemaURL: `${specification}/facets/${version}/${name}.json#/$defs/${name}`,
    ...members,
  };
}

/** Names this program as the source of an event. */
function producerOf({ version }: Pick<ObservedRun, 'version'>): string {
  return `urn:asset-export:${version}`;
}
