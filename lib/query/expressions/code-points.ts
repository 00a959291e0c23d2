/** Texts counted and cut by characters of Unicode, as XPath counts. Pure. */

const isPaired = (text: string): boolean => /[\ud800-\udbff]/.test(text);

export function countPoints(text: string): number {
  if (!isPaired(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; count++) at += widthAt(text, at);
  return count;
}

/** Characters from one index, up to another. */
export function slicePoints(text: string, from: number, to: number): string {
  if (!isPaired(text)) return text.slice(from, to);
  let start = 0;
  let count = 0;
  for (; count < from && start < text.length; count++) start += widthAt(text, start);
  let end = start;
  for (; count < to && end < text.length; count++) end += widthAt(text, end);
  return text.slice(start, end);
}

const widthAt = (text: string, at: number): number => (text.codePointAt(at)! > 0xffff ? 2 : 1);
