/** Bytes of a timestamp's text: microseconds that are a safe integer lie in years of four digits. */
export const timestampBytes = 27;
