/** Tools with which agents read and write resources. */
import type { Platform } from '../../lib/component/contract.js';
import { type ArgumentSchema, schemaOf, type Tool } from '../../lib/component/tools.js';
import { change, explainForCaller, fetchResource, listed, maxShown, write } from './resource-requests.js';

const iri: ArgumentSchema = {
  type: 'string',
  maxLength: 5_000,
  description: 'An IRI of the storage, or a path such as /notes/a. Containers end with a slash.',
};
const tag: ArgumentSchema = {
  type: 'string',
  maxLength: 200,
  description: 'The tag that read returned. The change is rejected if the resource has changed since.',
};

export const resourceTools = (platform: Platform): readonly Tool[] => [...reading(platform), ...writing(platform)];

const reading = (platform: Platform): readonly Tool[] => [
  {
    name: 'list',
    title: 'List a container',
    description:
      'Lists the members of a container that you can read, page by page. Without iri, lists the root of the storage, or the places that you can read.',
    inputSchema: schemaOf({
      iri,
      page: { type: 'integer', minimum: 1, maximum: 1e9, description: 'Number of the page, from 1.' },
    }),
    annotations: { readOnlyHint: true },
    async call(caller, { iri: container, page }) {
      const { text, next } = await listed(platform, caller, { container, page });
      return [text, ...(next === undefined ? [] : [`There are more members: page ${next}.`])];
    },
  },
  {
    name: 'read',
    title: 'Read a resource',
    description: `Returns a resource: RDF as Turtle, other text as it is, at most ${maxShown} bytes. The first text has the tag, which write and patch need.`,
    inputSchema: schemaOf({ iri }, 'iri'),
    annotations: { readOnlyHint: true },
    async call(caller, given) {
      const { text, ...facts } = await fetchResource(platform, caller, String(given['iri']));
      return [JSON.stringify(facts), ...(text === undefined ? [] : [text])];
    },
  },
  {
    name: 'explain',
    title: 'Check access',
    description: 'Says if you may make a request, and which permission it needs.',
    inputSchema: schemaOf(
      {
        iri,
        method: {
          type: 'string',
          enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
          description: 'PUT creates or replaces, POST adds to a container.',
        },
      },
      'iri',
      'method',
    ),
    annotations: { readOnlyHint: true },
    async call(caller, given) {
      return [JSON.stringify(await explainForCaller(platform, caller, given))];
    },
  },
];

const writing = (platform: Platform): readonly Tool[] => [
  {
    name: 'write',
    title: 'Create or replace a resource',
    description:
      'Creates a resource, or replaces the whole content of one if the tag that read returned is given. An iri with a final slash creates a container. The parent container must exist.',
    inputSchema: schemaOf(
      {
        iri,
        content: { type: 'string', description: 'The content. Relative IRIs in RDF resolve against the resource.' },
        media_type: { type: 'string', maxLength: 200, description: 'Media type of the content. Default: text/turtle.' },
        tag,
      },
      'iri',
    ),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    call: (caller, given) => write(platform, caller, given),
  },
  {
    name: 'patch',
    title: 'Change a part of a resource',
    description:
      'Applies a patch to a resource: SPARQL Update on RDF (the default graph is the resource), JSON Merge Patch or JSON Patch on JSON.',
    inputSchema: schemaOf(
      {
        iri,
        patch: {
          type: 'string',
          description: 'For example: INSERT DATA { <#me> a <http://xmlns.com/foaf/0.1/Person> }',
        },
        media_type: {
          type: 'string',
          enum: ['application/sparql-update', 'application/merge-patch+json', 'application/json-patch+json', 'text/n3'],
          description: 'Kind of the patch. Default: application/sparql-update.',
        },
        tag,
      },
      'iri',
      'patch',
      'tag',
    ),
    annotations: { readOnlyHint: false, destructiveHint: true },
    call: (caller, { iri: target, patch, media_type: type = 'application/sparql-update', tag: seen }) =>
      change(platform, caller, { method: 'PATCH', target, content: patch, type, seen }),
  },
];
