/** How the address of a shared database is written. */
export const postgresAddressExample =
  'Write postgres://user@host/database. The password comes from PGPASSWORD or PGPASSFILE.';

/** Why a text cannot be the address of a shared database; undefined where it can. It may hold a password: never show it. */
export function postgresAddressProblem(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) return 'must be a postgres:// address';
  const holdsPassword = url.password !== '' || url.searchParams.has('password');
  return holdsPassword ? 'must not hold a password' : undefined;
}
