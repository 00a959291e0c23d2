/** Tool with which agents request access (rule 24.7). */
import { schemaOf, type Tool } from '../../lib/component/tools.js';
import { LwsError } from '../../lib/tools/errors.js';
import { accept, type DocumentsEndpoint } from './routes.js';

export const requestAccessTool = (endpoint: DocumentsEndpoint): Tool => ({
  name: 'request_access',
  title: 'Request access',
  description:
    'Asks the controllers of the storage for access to a resource, or to a container and everything in it. They decide later: use it only if the task needs it, and once.',
  inputSchema: schemaOf(
    {
      iri: { type: 'string', maxLength: 5_000, description: 'IRI of the resource or container.' },
      actions: {
        type: 'array',
        items: { type: 'string', enum: ['read', 'modify', 'create', 'delete'] },
        maxItems: 4,
        description: 'What to do with it: read, modify, create (in a container), delete.',
      },
      reason: { type: 'string', maxLength: 1_000, description: 'Why, in one sentence for the controllers.' },
    },
    'iri',
    'actions',
    'reason',
  ),
  annotations: { readOnlyHint: false, destructiveHint: false },
  async call(caller, { iri, actions, reason }) {
    const { principal } = caller.access;
    if (!principal) throw new LwsError('unauthenticated', 'Requesting access requires an identity.');
    const { rootIri: storage, baseUri } = endpoint.platform;
    const value = String(iri).startsWith('/') ? `${baseUri}${iri}` : iri;
    const { document } = await accept(endpoint, caller, {
      type: ['AccessRequest'],
      storage,
      message: reason,
      access: [
        {
          type: ['AccessPolicy'],
          action: actions,
          assignee: principal.subject,
          target: { type: 'StorageResource', value },
        },
      ],
    });
    return [JSON.stringify({ request: document.id, result: 'waiting for a decision of the controllers' })];
  },
});
