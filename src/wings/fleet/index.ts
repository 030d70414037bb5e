export { checkDatabase } from './check-database.ts';
export type { Enqueued, EnqueueProgress } from './enqueue-export.ts';
export { type PostgresContext, requirePg } from './ledger/postgres-connection.ts';
export { openPostgresLedger, type PostgresLedger, type PostgresLedgerOptions } from './ledger/postgres-ledger.ts';
export { readPostgresLedger } from './ledger/postgres-readings.ts';
export { enqueueJob, workOnJob } from './queued-export.ts';
export { requireQueue } from './queue/bullmq-queue.ts';
export type { Shard } from './shard-slices.ts';
