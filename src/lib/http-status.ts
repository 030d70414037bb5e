/**
 * What a status says of the next attempt, whoever answers: `busy` and `pace` may pass, `unsupported` never does, `denied` and
 * `refused` are about this request.
 */
export type StatusMeaning = 'done' | 'denied' | 'refused' | 'pace' | 'busy' | 'unsupported';

const meanings: Readonly<Record<number, StatusMeaning>> = {
  401: 'denied',
  403: 'denied',
  408: 'busy',
  425: 'busy',
  429: 'pace',
  501: 'unsupported',
  505: 'unsupported',
};

export function meaningOfStatus(status: number): StatusMeaning {
  return meanings[status] ?? (status >= 500 ? 'busy' : status >= 200 && status < 300 ? 'done' : 'refused');
}
