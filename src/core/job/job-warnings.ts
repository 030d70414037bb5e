import { fileNameWarning } from '../../lib/addresses/address.ts';
import { documentedIdsPerCall, type Job } from './job-schema.ts';

/** Warnings about allowed but suspicious values. */
export function jobWarnings({ service, output }: Job): string[] {
  const { idsPerCall } = service;
  const likeFile = fileNameWarning(output.dir);
  const warnings = likeFile === undefined ? [] : [likeFile];
  if (idsPerCall <= documentedIdsPerCall) return warnings;
  return [
    ...warnings,
    `service.idsPerCall is ${idsPerCall}, but services accept at most ${documentedIdsPerCall}; larger calls are refused, split and paid again`,
  ];
}
