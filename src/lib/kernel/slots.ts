/**
 * What the kernel is told and tells, by number of 4 bytes in its header. The kernel imports this file too, so it holds nothing but numbers. All but counts are
 * addresses in the kernel's memory.
 */

/** The answer, or the bytes in which most cells of a block lie. */
export const answerSlot = 0;
export const answerEndSlot = 1;

/** Texts that are made: where they go, bytes there, bytes that the answer has of them already, and where the names of JSON types begin in these. */
export const madeSlot = 2;
export const madeBytesSlot = 3;
export const madeBeforeSlot = 4;
export const typesSlot = 5;
export const madeEndSlot = 6;

/** Numbers of members that differ from the specification: where they go, how many there may be, how many the answer has already, how many were found. */
export const driftsSlot = 7;
export const mostDriftsSlot = 8;
export const driftsBeforeSlot = 9;
export const driftCountSlot = 10;

/** What is to be read: where the first record begins, and how many there may be. */
export const scanSlot = 11;
export const mostRecordsSlot = 12;
/** How many were read, where the last ends, and where the one begins that was refused or had no room. */
export const recordCountSlot = 13;
export const recordEndSlot = 14;
export const stoppedSlot = 15;

/** Two regions for `extra` in the making, and the bytes of each. */
export const recordExtraSlot = 16;
export const elementExtraSlot = 17;
export const extraBytesSlot = 18;

/** The numbers that are kept of each record, and of how many. */
export const boundsSlot = 19;
export const boundsCapacitySlot = 20;

/** The object that a record is, in the plan; and columns of `assets`. */
export const rootSlot = 21;
export const idColumnSlot = 22;
export const interfaceColumnSlot = 23;
export const collectionColumnSlot = 24;
export const extraColumnSlot = 25;

/** Tables begin here: `assets`, and the child tables. */
export const firstTableSlot = 32;
export const tableCount = 7;
/** Slots of a table: cells a row; where the cells go; rows that there is room for; rows of this call; rows that the answer has already; and one of the kernel's own. */
export const tableSlots = 8;
export const widthSlot = 0;
export const fromSlot = 1;
export const lengthSlot = 2;
export const marksSlot = 3;
export const capacitySlot = 4;
export const rowsSlot = 5;
export const rowsBeforeSlot = 6;

/** What `scan` gives: all were read that there may be; one was refused; there was no room for one. */
export const scanDone = 0;
export const scanRefused = 1;
export const scanFull = 2;

/** Zeros behind the answer, and free bytes behind every region that is read or written 16 bytes at a time. */
export const paddingBytes = 512;
/** The longest key of a member, `"name":`: it is compared in whole blocks, which stay in the padding. */
export const mostKeyBytes = 256;

// Of a block to be encoded, whose source is the answer.

/** Texts of the cells that the source does not hold; and the cells of the rows. */
export const textsSlot = 2;
export const cellFromSlot = 3;
export const cellLengthSlot = 4;
export const cellMarksSlot = 5;
export const rowCountSlot = 6;
export const columnCountSlot = 7;
/** A byte a column: what its cells are. */
export const careSlot = 8;
/** Where the lines go, the room there, bytes from which on no further row begins; and what was written. */
export const outSlot = 9;
export const outBytesSlot = 10;
export const stopBytesSlot = 11;
export const writtenSlot = 12;
export const rowsWrittenSlot = 13;
/** Cells that a spreadsheet would run as a formula, and those with lone surrogates that were replaced. */
export const formulasSlot = 14;
export const replacedSlot = 15;
/** Texts of the format, and of each where it begins: of CSV null, of JSONL for each column its key, and its key with null. */
export const fixedSlot = 16;
export const fixedStartsSlot = 17;
/** Of CSV: whether texts are quoted always, and formulas escaped. */
export const quoteTextsSlot = 18;
export const escapeFormulasSlot = 19;

/** Of Arrow columns: rows before these in the first byte of bits, and the bytes that all columns take. */
export const shiftSlot = 20;
export const neededSlot = 21;
/** A few words a column: where its texts begin to count; and of what was laid out where it begins, cells that are null, and bytes of its texts. */
export const laidColumnsSlot = 22;
export const columnWords = 4;
export const columnBaseWord = 0;
export const columnStartWord = 1;
export const columnNullsWord = 2;
export const columnBytesWord = 3;

// Of rows that are read back: table 0 takes them, and their texts are made as those of a scan.

/** By the column in the file: 4 bytes for its place in the row, or -1. */
export const placesSlot = 18;
/** Of JSONL: the column from which on only the last is wanted, or -1; and how far before the end of the line its key begins. */
export const skipColumnSlot = 19;
export const skipBytesSlot = 20;

/** What the cells of a column are: text that stands as it is, a string, JSON, or a time as text. */
export const plainCare = 0;
export const stringCare = 1;
export const jsonCare = 2;
export const timeCare = 3;
/** Of Arrow columns: what is laid out besides texts. Of a plain one, only which cells are null. */
export const booleanCare = 4;
export const int64Care = 5;
export const doubleCare = 6;
export const decimalCare = 7;

/** `keccak` hashes fewer bytes than these. */
export const hashRoom = 4080;
