/** The tool `search` for agents (rule 24.12). */
import { schemaOf, type Tool } from '../../../lib/component/tools.js';
import { answerSearch, type TextEndpoints } from './routes.js';

export const textTools = (endpoints: TextEndpoints): readonly Tool[] => [
  {
    name: 'search',
    title: 'Search texts',
    description:
      'Finds resources that you can read by words in their literals, names, titles and texts, best first, with an excerpt each. ' +
      'All words must match. Use "quotation marks" for a phrase, and an asterisk after the beginning of a word.',
    inputSchema: schemaOf(
      {
        words: { type: 'string', maxLength: 1_000, description: 'Words, phrases and beginnings of words.' },
        lang: { type: 'string', maxLength: 100, description: 'Language tag of the texts. Default: all languages.' },
        type: { type: 'string', maxLength: 5_000, description: 'IRI of a type of the resources.' },
        in: { type: 'string', maxLength: 5_000, description: 'IRI of a container to search in.' },
        page: { type: 'integer', minimum: 1, maximum: 1e9, description: 'Number of the page, from 1.' },
      },
      'words',
    ),
    annotations: { readOnlyHint: true },
    async call({ req, access }, { words, ...others }) {
      const given = Object.entries(others).map(([name, value]): [string, string] => [name, String(value)]);
      const query = new URLSearchParams([['q', String(words)], ...given]);
      return [String((await answerSearch(endpoints, { req, access, query })).body)];
    },
  },
];
