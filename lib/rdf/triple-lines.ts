/** The lines of N-Triples: each has one triple and all of it, or none (RDF 1.1 N-Triples, section 7). */

const blank = /[ \t]*/y;
const label = /[^\s<"]*/y;
const suffix = /\^\^<[^>]*>|@[\w-]+/y;

/** The number of the first line that is neither one whole triple nor none; `undefined` when all are. */
export function strayLine(text: string): number | undefined {
  let number = 0;
  for (const line of text.split(/\r\n|\r|\n/)) {
    number++;
    if (!isTripleLine(line)) return number;
  }
  return undefined;
}

function isTripleLine(line: string): boolean {
  let at = endOf(blank, line, 0);
  if (at < line.length && line[at] !== '#') {
    for (let term = 0; term < 3; term++) at = endOf(blank, line, termEnd(line, at));
    if (line[at] !== '.') return false;
    at = endOf(blank, line, at + 1);
  }
  return at === line.length || line[at] === '#';
}

/** The index after the term that begins there; after the line where none does. */
function termEnd(line: string, start: number): number {
  const none = line.length + 1;
  if (line[start] === '<') return line.indexOf('>', start) + 1 || none;
  if (line[start] === '_') {
    let end = endOf(label, line, start);
    // A label does not end in a full stop: that is the triple's.
    while (line[end - 1] === '.') end--;
    return end;
  }
  if (line[start] !== '"') return none;
  let end = start + 1;
  for (; end < line.length && line[end] !== '"'; end++) if (line[end] === '\\') end++;
  return endOf(suffix, line, end + 1);
}

/** The index after what a sticky pattern matches there. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}
