/** Defined in the build with checks alone (`asc --use CHECKED=1`). */
declare const CHECKED: i32;
