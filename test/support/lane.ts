/** Whether all tests are asked for (`npm run test:all`). `npm test` runs a sample of the longest ones. */
export const runsAll = process.env['TEST'] === 'all';
