/** What was seen, and what is not as it should be although a run can begin. */
export interface Fact {
  readonly fact: string;
  readonly warnings?: readonly string[];
}
