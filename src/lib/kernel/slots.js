'use strict';
/**
 * What the kernel is told and tells, by number of 4 bytes in its header. The kernel imports this file too, so it holds nothing but numbers. All but counts are
 * addresses in the kernel's memory.
 */
Object.defineProperty(exports, '__esModule', { value: true });
exports.outBytesSlot =
  exports.outSlot =
  exports.careSlot =
  exports.columnCountSlot =
  exports.rowCountSlot =
  exports.cellMarksSlot =
  exports.cellLengthSlot =
  exports.cellFromSlot =
  exports.textsSlot =
  exports.mostKeyBytes =
  exports.paddingBytes =
  exports.scanFull =
  exports.scanRefused =
  exports.scanDone =
  exports.rowsBeforeSlot =
  exports.rowsSlot =
  exports.capacitySlot =
  exports.marksSlot =
  exports.lengthSlot =
  exports.fromSlot =
  exports.widthSlot =
  exports.tableSlots =
  exports.tableCount =
  exports.firstTableSlot =
  exports.extraColumnSlot =
  exports.collectionColumnSlot =
  exports.interfaceColumnSlot =
  exports.idColumnSlot =
  exports.rootSlot =
  exports.boundsCapacitySlot =
  exports.boundsSlot =
  exports.extraBytesSlot =
  exports.elementExtraSlot =
  exports.recordExtraSlot =
  exports.stoppedSlot =
  exports.recordEndSlot =
  exports.recordCountSlot =
  exports.mostRecordsSlot =
  exports.scanSlot =
  exports.driftCountSlot =
  exports.driftsBeforeSlot =
  exports.mostDriftsSlot =
  exports.driftsSlot =
  exports.madeEndSlot =
  exports.typesSlot =
  exports.madeBeforeSlot =
  exports.madeBytesSlot =
  exports.madeSlot =
  exports.answerEndSlot =
  exports.answerSlot =
    void 0;
exports.timeCare =
  exports.jsonCare =
  exports.stringCare =
  exports.plainCare =
  exports.escapeFormulasSlot =
  exports.quoteTextsSlot =
  exports.fixedStartsSlot =
  exports.fixedSlot =
  exports.replacedSlot =
  exports.formulasSlot =
  exports.rowsWrittenSlot =
  exports.writtenSlot =
  exports.stopBytesSlot =
    void 0;
/** The answer, or the bytes in which most cells of a block lie. */
exports.answerSlot = 0;
exports.answerEndSlot = 1;
/** Texts that are made: where they go, bytes there, bytes that the answer has of them already, and where the names of JSON types begin in these. */
exports.madeSlot = 2;
exports.madeBytesSlot = 3;
exports.madeBeforeSlot = 4;
exports.typesSlot = 5;
exports.madeEndSlot = 6;
/** Numbers of members that differ from the specification: where they go, how many there may be, how many the answer has already, how many were found. */
exports.driftsSlot = 7;
exports.mostDriftsSlot = 8;
exports.driftsBeforeSlot = 9;
exports.driftCountSlot = 10;
/** What is to be read: where the first record begins, and how many there may be. */
exports.scanSlot = 11;
exports.mostRecordsSlot = 12;
/** How many were read, where the last ends, and where the one begins that was refused or had no room. */
exports.recordCountSlot = 13;
exports.recordEndSlot = 14;
exports.stoppedSlot = 15;
/** Two regions for `extra` in the making, and the bytes of each. */
exports.recordExtraSlot = 16;
exports.elementExtraSlot = 17;
exports.extraBytesSlot = 18;
/** The numbers that are kept of each record, and of how many. */
exports.boundsSlot = 19;
exports.boundsCapacitySlot = 20;
/** The object that a record is, in the plan; and columns of `assets`. */
exports.rootSlot = 21;
exports.idColumnSlot = 22;
exports.interfaceColumnSlot = 23;
exports.collectionColumnSlot = 24;
exports.extraColumnSlot = 25;
/** Tables begin here: `assets`, and the child tables. */
exports.firstTableSlot = 32;
exports.tableCount = 7;
/** Slots of a table: cells a row; where the cells go; rows that there is room for; rows of this call; rows that the answer has already; and one of the kernel's own. */
exports.tableSlots = 8;
exports.widthSlot = 0;
exports.fromSlot = 1;
exports.lengthSlot = 2;
exports.marksSlot = 3;
exports.capacitySlot = 4;
exports.rowsSlot = 5;
exports.rowsBeforeSlot = 6;
/** What `scan` gives: all were read that there may be; one was refused; there was no room for one. */
exports.scanDone = 0;
exports.scanRefused = 1;
exports.scanFull = 2;
/** Zeros behind the answer, and free bytes behind every region that is read or written 16 bytes at a time. */
exports.paddingBytes = 512;
/** The longest key of a member, `"name":`: it is compared in whole blocks, which stay in the padding. */
exports.mostKeyBytes = 256;
// Of a block to be encoded, whose source is the answer.
/** Texts of the cells that the source does not hold; and the cells of the rows. */
exports.textsSlot = 2;
exports.cellFromSlot = 3;
exports.cellLengthSlot = 4;
exports.cellMarksSlot = 5;
exports.rowCountSlot = 6;
exports.columnCountSlot = 7;
/** A byte a column: what its cells are. */
exports.careSlot = 8;
/** Where the lines go, the room there, bytes from which on no further row begins; and what was written. */
exports.outSlot = 9;
exports.outBytesSlot = 10;
exports.stopBytesSlot = 11;
exports.writtenSlot = 12;
exports.rowsWrittenSlot = 13;
/** Cells that a spreadsheet would run as a formula, and those with lone surrogates that were replaced. */
exports.formulasSlot = 14;
exports.replacedSlot = 15;
/** Texts of the format, and of each where it begins: of CSV null, of JSONL for each column its key, and its key with null. */
exports.fixedSlot = 16;
exports.fixedStartsSlot = 17;
/** Of CSV: whether texts are quoted always, and formulas escaped. */
exports.quoteTextsSlot = 18;
exports.escapeFormulasSlot = 19;
/** What the cells of a column are: text that stands as it is, a string, JSON, or a time as text. */
exports.plainCare = 0;
exports.stringCare = 1;
exports.jsonCare = 2;
exports.timeCare = 3;
