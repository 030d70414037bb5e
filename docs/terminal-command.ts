/**
 * The command that runs a line of shell on a terminal of its own, and ends with its status. A terminal is a session, and Linux shares the
 * cores among sessions: beside busy programs it may get a tenth of one. Who may ask for more asks; without the right it goes on.
 */
export function terminalCommand(line: string): readonly [file: string, ...args: string[]] {
  return ['script', '-qefc', `{ echo -10 > /proc/self/autogroup; } 2> /dev/null; ${line}`, '/dev/null'];
}
