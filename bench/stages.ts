/**
 * What each stage of an export takes by itself, on the answers to the ids of a file.
 *
 *     node --import ts-blank-space/register bench/stages.ts LOAD-SERVER IDS-FILE FOLDER ROUNDS
 *
 * Prints microseconds of CPU time a record by stage, as JSON. `npm run bench` has the figures.
 */
import { diskStages } from './stages/disk-stages.ts';
import { encodeStages } from './stages/encode-stages.ts';
import { fetchStage } from './stages/fetch-stage.ts';
import { batchesOf, exchangesOf } from './stages/prepared.ts';
import { rowStages } from './stages/row-stages.ts';
import { measureStages } from './stages/stage.ts';

const [url = '', idFile = '', folder = '', rounds = '5'] = process.argv.slice(2);
const batches = await batchesOf(idFile);
const exchanges = await exchangesOf(batches, url);
const rows = await rowStages(batches, exchanges);
const stages = [
  fetchStage(exchanges, url),
  ...rows.stages,
  ...encodeStages(rows.flat),
  ...diskStages(exchanges, folder),
];
const records = batches.reduce((sum, { ids }) => sum + ids.length, 0);
const taken = await measureStages(stages, { records, rounds: Number(rounds) });
process.stdout.write(`${JSON.stringify(taken)}\n`);
// Connections to the load server would keep the process.
process.exit();
