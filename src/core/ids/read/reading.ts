/** The column, or the member of objects, that the ids of an input are read from. */
export interface TakenColumn {
  /** Name of the input. */
  readonly input: string;
  readonly column: string;
  /** True when the user named none and no name is known: it is the only one that has ids. */
  readonly guessed: boolean;
}

/** An entry that is not an id. */
export interface InvalidSample {
  /** `ids.csv:12` */
  readonly at: string;
  /** What stands there, at most 200 characters. */
  readonly text: string;
  readonly reason: string;
}

/** What is reported while ids are read. */
export interface ReadingListener {
  readonly onInvalid?: ((sample: InvalidSample) => void) | undefined;
}

/** So many show what is wrong with a list. */
export const mostSamples = 3;

/** Keeps the first invalid entries. */
export function sampling(samples: InvalidSample[]): (sample: InvalidSample) => void {
  return (sample) => {
    if (samples.length < mostSamples) samples.push(sample);
  };
}

/** A sample in one line. */
export function sampleText({ at, text, reason }: InvalidSample): string {
  return `${at}: ${JSON.stringify(text)}: ${reason}`;
}
