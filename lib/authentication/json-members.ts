/** Whether a JSON text gives a member of an object twice, which JSON.parse would not tell. Pure; linear. */

export function hasDuplicateMembers(json: string): boolean {
  const scopes: (Set<string> | undefined)[] = [];
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '{') scopes.push(new Set());
    else if (character === '[') scopes.push(undefined);
    else if (character === '}' || character === ']') scopes.pop();
    else if (character === '"') {
      const end = endOfString(json, at);
      const names = scopes[scopes.length - 1];
      if (names && isMemberName(json, end + 1)) {
        // Escapes are undone: "sub" and "s\u0075b" are one name.
        const name = nameOf(json.slice(at, end + 1));
        if (name === undefined || names.has(name)) return true;
        names.add(name);
      }
      at = end;
    }
  }
  return false;
}

/** Whether what ends here is followed by a colon, after any white space. */
function isMemberName(json: string, from: number): boolean {
  let at = from;
  while (json[at] === ' ' || json[at] === '\t' || json[at] === '\n' || json[at] === '\r') at++;
  return json[at] === ':';
}

function nameOf(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    // Malformed: the parser will say so of the whole text.
    return undefined;
  }
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}
