import { documentedIdsPerCall, type Job } from './job-schema.ts';

/** Warnings about allowed but suspicious values. */
export function jobWarnings({ service }: Job): string[] {
  const { idsPerCall } = service;
  if (idsPerCall <= documentedIdsPerCall) return [];
  return [
    `service.idsPerCall is ${idsPerCall}, but services accept at most ${documentedIdsPerCall}; larger calls are refused, split and paid again`,
  ];
}
