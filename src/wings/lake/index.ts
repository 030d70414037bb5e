export { lakeFollower } from './follow-nights.ts';
