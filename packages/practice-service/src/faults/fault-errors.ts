import { assetNotFound, isKeyError, tooManyIds } from '../asset-query.ts';
import type { ServiceQuery } from '../lists/list-query.ts';
import type { Fault } from './fault-schema.ts';
import { capBytes } from '../http-answer.ts';
import type { ErrorObject } from '../json-rpc.ts';

/** How a call that a fault fails is answered, and whether it costs its credits, or how many. */
export interface Failure {
  readonly error: ErrorObject;
  readonly charged: boolean | number;
}

/** The JSON-RPC error of a fault that fails a whole call; undefined when it does not. */
export function fail(fault: Fault, query: ServiceQuery): Failure | undefined {
  if (fault.fault === 'error') {
    return { error: { code: fault.code, message: fault.message }, charged: fault.charged ?? true };
  }
  if (fault.fault === 'poison') {
    const id = query.ids.find((asked) => fault.ids.includes(asked));
    if (id === undefined) return undefined;
    const error = { code: fault.code, message: fault.message.replaceAll('{id}', id) };
    return { error, charged: fault.charged ?? true };
  }
  if (fault.fault !== 'cap' || fault.form === 'http413' || query.ids.length <= fault.maxIds) return undefined;
  return { error: capErrors[fault.form](fault.maxIds), charged: fault.charged ?? false };
}

/** An error of the service in the words of another server. */
export function reword(fault: Fault, error: ErrorObject): ErrorObject {
  const isOther =
    (fault.fault === 'notFound' && error === assetNotFound) || (fault.fault === 'malformedKey' && isKeyError(error));
  return isOther ? { code: fault.code, message: fault.message } : error;
}

const data = `Exceeded max limit of ${capBytes}`;
const capErrors = {
  invalidParams: tooManyIds,
  execution: (maxIds: number): ErrorObject => ({ ...tooManyIds(maxIds), code: -32000 }),
  responseTooBig: (): ErrorObject => ({ code: -32008, message: 'Response is too big', data }),
  responseTooBigOlder: (): ErrorObject => ({ code: -32702, message: 'Response is too big', data }),
};
