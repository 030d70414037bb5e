import { getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/** How long each address of a host but the last has to answer, in milliseconds. Node's 250 are less than a connection across the world takes. */
export const addressAttemptMs = 2500;

/** Sets it for all connections of this thread: to the service, stores, databases and receivers of notifications. */
export function giveAddressesTime(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(Math.max(addressAttemptMs, getDefaultAutoSelectFamilyAttemptTimeout()));
}
