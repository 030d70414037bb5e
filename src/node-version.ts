/** The oldest Node.js that runs the program: `engines` of package.json. */
export const oldestNode = '20.19';

/** What a Node.js that is too old is told; undefined for any other. This file and `main.ts` keep to the syntax of Node.js 12. */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `asset-export: needs Node.js ${oldestNode} or newer; this is ${version}\n  Install a newer Node.js (https://nodejs.org), then run the same command again.\n`;
}
