/** Whether the text of a number is that of its cell in a column of this kind (`MemberKind`). TypeScript says so of numbers with many digits: few records have one. */
export declare function isCellText(at: usize, length: i32, kind: i32): bool;

/** The double that the text of a number stands for, where that takes more than one operation. */
export declare function numberAt(at: usize, length: i32): f64;
