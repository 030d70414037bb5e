import { type AssetQuery, tooManyIds } from './asset-query.ts';
import type { Fault } from './fault-schema.ts';
import { capBytes } from './http-answer.ts';
import type { RpcError } from './json-rpc.ts';

/** How a call that the fault fails is answered; `charged` unless the file says otherwise. */
export interface Failure {
  readonly error: RpcError;
  readonly charged: boolean;
}

/** The JSON-RPC error of a fault that fails a whole call; undefined when it does not. */
export function fail(fault: Fault, query: AssetQuery): Failure | undefined {
  if (fault.fault === 'poison') {
    const id = query.ids.find((asked) => fault.ids.includes(asked));
    if (id === undefined) return undefined;
    const error = { code: fault.code, message: fault.message.replaceAll('{id}', id) };
    return { error, charged: fault.charged ?? true };
  }
  if (fault.fault !== 'cap' || fault.form === 'http413' || query.ids.length <= fault.maxIds) return undefined;
  return { error: capErrors[fault.form](fault.maxIds), charged: fault.charged ?? false };
}

const data = `Exceeded max limit of ${capBytes}`;
const capErrors = {
  invalidParams: tooManyIds,
  execution: (maxIds: number): RpcError => ({ ...tooManyIds(maxIds), code: -32000 }),
  responseTooBig: (): RpcError => ({ code: -32008, message: 'Response is too big', data }),
  responseTooBigOlder: (): RpcError => ({ code: -32702, message: 'Response is too big', data }),
};
