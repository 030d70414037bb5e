import type { Socket } from 'node:net';
import type { buildConnector as BuildConnector, Dispatcher, Pool as PoolType } from 'undici';
import anyBuildConnector from 'undici/lib/core/connect.js';
import AnyPool from 'undici/lib/dispatcher/pool.js';

// The index of undici has the same. It also loads fetch, caches and mocks: 40 ms of a start.
export const Pool = AnyPool as unknown as typeof PoolType;

export type { Dispatcher };
export type Target = BuildConnector.Options;
export type Connector = BuildConnector.connector;

/** Connects, and gives the socket at once that will be connected; undici's types leave that out. */
export type Dial = (...args: Parameters<Connector>) => Socket;

export const buildConnector = anyBuildConnector as unknown as (options: BuildConnector.BuildOptions) => Dial;
