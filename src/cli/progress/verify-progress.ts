import type { Clock } from '../../lib/clock.ts';
import type { VerifyProgress } from '../../exports/verify-export.ts';
import { byteSize, count, duration, share, progressBar, cutLine, folded } from '../../lib/format-text.ts';
import { redrawnBlock } from './redrawn-block.ts';
import type { TerminalOutput } from '../stop-signals.ts';

export interface ShownVerifying {
  readonly onProgress: (progress: VerifyProgress) => void;
  readonly end: () => void;
}

/** Shows how far `verify` is: a block that is redrawn on a terminal, and gone at the end. */
export function verifyOnTerminal(clock: Clock, terminal: TerminalOutput): ShownVerifying {
  const startedMs = clock.monotonic();
  let latest: VerifyProgress | undefined;
  const block = redrawnBlock(
    (columns) => ({ text: latest === undefined ? '' : verifyBlock(latest, clock.monotonic() - startedMs, columns) }),
    terminal,
  );
  return {
    onProgress: (progress) => {
      latest = progress;
    },
    end: () => {
      block.end();
    },
  };
}

/** The block that a terminal shows while files are read. */
export function verifyBlock(progress: VerifyProgress, elapsedMs: number, columns: number): string {
  const { files, filesTotal, bytes, bytesTotal } = progress;
  const bytesPerSecond = elapsedMs === 0 ? 0 : (bytes / elapsedMs) * 1000;
  const left = bytesPerSecond === 0 ? '–' : duration(((bytesTotal - bytes) / bytesPerSecond) * 1000);
  const facts = [
    `${count(files)} of ${count(filesTotal)} files`,
    `${byteSize(bytes)} of ${byteSize(bytesTotal)}`,
    `${byteSize(bytesPerSecond)}/s`,
    `ETA ${left}`,
  ];
  const fraction = bytesTotal === 0 ? 1 : bytes / bytesTotal;
  const label = share(Math.min(1, fraction), 1).padStart(5);
  return [progressBar(fraction, label, Math.min(columns, 100)), ...folded(facts, ' · ', columns)]
    .map((line) => cutLine(line, columns))
    .join('\n');
}
