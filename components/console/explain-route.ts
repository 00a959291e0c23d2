/** Why somebody may do something, or may not: the command `explain`, for the console. */
import { LwsError, type Platform } from '../../lib/component/basics.js';
import type { Route } from '../../lib/component/http.js';
import { jsonReply } from './json-messages.js';

export const explainRoute = ({ explain }: Platform): Route => ({
  methods: ['GET', 'HEAD'],
  path: '{prefix}/explain',
  access: 'controller',
  async handle({ query }) {
    const [subject, method, iri] = ['as', 'method', 'iri'].map((name) => query.get(name) ?? '');
    if (!iri) throw new LwsError('bad-request', 'The query has to name an iri.');
    return jsonReply(
      200,
      await explain({
        access: subject ? { principal: { subject } } : {},
        method: (method || 'GET').toUpperCase(),
        iri,
      }),
    );
  },
});
