/**
 * Documents for coding agents, made of the documentation: `llms.txt` (llmstxt.org), and a skill (agentskills.io).
 * `node scripts/agent-documents.mjs` writes them. A spec keeps them current.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (name) => readFileSync(join(root, name), 'utf8');

/** Documents of llms.txt by section. Every page of docs/ is in one of them. */
const sections = {
  Use: ['first-hour', 'http', 'sharing', 'signing-in', 'data', 'search', 'shapes', 'versions', 'publishing', 'agents'],
  Tools: ['console', 'tools', 'clients', 'embedding'],
  Operate: ['operate/README', 'operate/storages', 'operate/scale', 'operate/s3', 'operate/sizes', 'settings'],
  Develop: [
    'component',
    'rules',
    'conformance',
    'benchmarks',
    'release',
    'internals/file-format',
    'internals/atomic-commit',
  ],
};

/** Text without links and marks. */
const plain = (text) =>
  text
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/[*`]/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** Characters of a summary, which ends with a sentence. */
const least = 60;

/** Title and first sentences of a page. */
function summaryOf(name) {
  const text = read(`docs/${name}.md`);
  const title = /^# (.+)$/m.exec(text)[1];
  const paragraph = text
    .split(/\n{2,}/)
    .find((part) => /^[A-Z`[]/.test(part))
    .trim();
  let sentence = '';
  for (const each of plain(paragraph).split(/(?<=[.:]) (?=[A-Z])/)) if (sentence.length < least) sentence += ` ${each}`;
  return { title: plain(title), sentence: sentence.trim().replace(/:$/, '.') };
}

/** A section of the README, with its heading. */
function sectionOf(title) {
  const [, text] = new RegExp(`^(## ${title}\\n[\\s\\S]*?)(?=^## |(?![\\s\\S]))`, 'm').exec(read('README.md'));
  return text.trim().replace(/\]\((?!https?:)([^)]+)\)/g, '](../../$1)');
}

/** First paragraph of the README, without what is beside the point for an agent. */
const introduction = () => plain(/^# Quadpod\n\n([\s\S]*?)\n\n/.exec(read('README.md'))[1]);

/** Returns the texts by path. */
export function agentDocuments() {
  const listed = Object.entries(sections).map(([title, names]) => {
    const lines = names.map((name) => {
      const { title: of, sentence } = summaryOf(name);
      return `- [${of}](docs/${name}.md): ${sentence}`;
    });
    return `## ${title}\n\n${lines.join('\n')}`;
  });
  const skill = `---
name: quadpod
description: Stores, queries, checks and shares RDF and files in a Quadpod server (Linked Web Storage, SPARQL, SHACL, access grants). Use it to load data into a Quadpod storage, query it, or give access.
---

<!-- Made by scripts/agent-documents.mjs. -->

# Quadpod

${introduction()}

The server prints \`export TOKEN=...\` at its start. \`npx quadpod owner --key lws-data/owner.key\` prints another one, valid for an hour. Responses with an
error are problem documents (RFC 9457): their \`detail\` says what to do. A PUT that replaces a resource needs \`If-Match\` with its entity tag.

${['Load', 'Query', 'Share', 'From a program'].map(sectionOf).join('\n\n')}

## More

[All documents](../../llms.txt), [the HTTP interface](../../docs/http.md), [the walkthrough](../../docs/first-hour.md).
`;
  return {
    'llms.txt': `# Quadpod\n\n> ${introduction()}\n\n${listed.join('\n\n')}\n`,
    'skills/quadpod/SKILL.md': skill,
  };
}

/** Pages of docs/ that are in no section, except decisions. */
export const unlisted = () =>
  readdirSync(join(root, 'docs'), { recursive: true })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md') && !path.startsWith('decisions/'))
    .map((path) => path.slice(0, -3))
    .filter((name) => !Object.values(sections).flat().includes(name));

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [path, text] of Object.entries(agentDocuments())) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
