import { afterAll } from 'vitest';
import { enginePackage } from './engine-packages.ts';
import { freePort } from '../../../support/free-port.ts';

/** What is used of Google's parser of BigQuery's SQL: a server of its own on this machine. */
interface Zetasql {
  runServer(port: number): Promise<never>;
  terminateServer(): void;
  readonly ZetaSQLClient: { init(port: number): void; getInstance(): Client };
  readonly LanguageOptions: new () => { enableMaximumLanguageFeatures(): Promise<{ serialize(): unknown }> };
}

interface Client {
  testConnection(): Promise<boolean>;
  extractTableNamesFromStatement(request: {
    sqlStatement: string;
    options: unknown;
    allowScript: boolean;
  }): Promise<unknown>;
}

/** Why BigQuery's own parser refuses a script; undefined where it takes it. */
export type ProblemOf = (script: string) => Promise<string | undefined>;

/**
 * Starts the parser for the tests of a file; undefined where it is not installed.
 * @param untested what is not tested without it
 */
export async function zetasqlOfTests(untested: string): Promise<ProblemOf | undefined> {
  const zetasql = enginePackage('@fivetrandevelopers/zetasql', untested) as Zetasql | undefined;
  if (zetasql === undefined) return undefined;
  const port = await freePort();
  const print = process.stdout.write.bind(process.stdout);
  // It prints where it listens.
  process.stdout.write = () => true;
  void zetasql.runServer(port);
  afterAll(() => {
    zetasql.terminateServer();
  });
  zetasql.ZetaSQLClient.init(port);
  const client = zetasql.ZetaSQLClient.getInstance();
  const isUp = await client.testConnection().finally(() => (process.stdout.write = print));
  if (!isUp) throw new Error('the parser of @fivetrandevelopers/zetasql does not start');
  const features = await new zetasql.LanguageOptions().enableMaximumLanguageFeatures();
  const options = features.serialize();
  return (sqlStatement) =>
    client.extractTableNamesFromStatement({ sqlStatement, options, allowScript: true }).then(
      () => undefined,
      (error: unknown) => String(error),
    );
}
