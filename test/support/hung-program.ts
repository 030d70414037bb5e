import { readlinkSync } from 'node:fs';
import { namesIn, textOf } from './process-files.ts';

/** What a process waits for, as far as the kernel says: the state of each thread, the processor time they took, and what is open. */
export function waitsOf(pid: number): string {
  const root = `/proc/${pid}`;
  const threads = namesIn(`${root}/task`).map((thread) => {
    const stat = textOf(`${root}/task/${thread}/stat`);
    const [state, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const waits = textOf(`${root}/task/${thread}/wchan`);
    const [call] = textOf(`${root}/task/${thread}/syscall`).split(' ');
    return `  thread ${thread}: ${state}, in ${waits} (system call ${call}), ${Number(user) + Number(system)} ticks`;
  });
  const open = namesIn(`${root}/fd`).map((name) => `${name} ${linkOf(`${root}/fd/${name}`)}`);
  const isUsual = (text: string): boolean => /anon_inode|pipe:|\/dev\/null/.test(text);
  return [...threads, `  open: ${open.filter((text) => !isUsual(text)).join(', ')}`].join('\n');
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
