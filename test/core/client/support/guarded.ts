import { aloneIn, type AssetCall, type AssetClient } from '../../../../src/core/client/asset-client.ts';
import { Ended } from '../../../../src/core/client/policies/day-gate.ts';
import {
  type SizeGuard,
  type SizeGuardOptions,
  withSizeGuard,
} from '../../../../src/core/client/policies/with-size-guard.ts';

/** The size guard around a client, with nothing else. */
export function sizeGuarded(
  inner: AssetClient,
  options: Partial<SizeGuardOptions<AssetCall>> = {},
): SizeGuard<AssetCall> {
  return withSizeGuard(inner, { controlOf: aloneIn, ended: new Ended(), ...options });
}
