/** The tool `validate` for agents (rule 24.12). */
import { clientFor } from '../../lib/authorization/client.js';
import { schemaOf, type Tool } from '../../lib/component/tools.js';
import { tooLarge } from '../../lib/resources/body.js';
import { dryRun, perMinute, reportJson, type ShapesEndpoints } from './routes.js';

export function shapesTools(endpoints: ShapesEndpoints): readonly Tool[] {
  const { platform } = endpoints;
  const attempts = platform.throttle('validate', perMinute);
  return [
    {
      name: 'validate',
      title: 'Validate data',
      description:
        'Checks Turtle against the shapes that apply to a resource, without writing it. Call it before write and patch.',
      inputSchema: schemaOf(
        {
          iri: { type: 'string', maxLength: 5_000, description: 'IRI of the resource that would be written.' },
          content: { type: 'string', description: 'The whole content in Turtle.' },
        },
        'iri',
        'content',
      ),
      annotations: { readOnlyHint: true },
      async call({ access, address }, { iri, content }) {
        const client = await clientFor(platform, access, address);
        if (client.callerClass === 'stranger') await attempts.begin(address);
        const query = new URLSearchParams({ as: String(iri) });
        const bytes = async (longest: number): Promise<Buffer> => {
          const data = Buffer.from(String(content));
          if (data.length > longest) throw tooLarge(longest);
          return data;
        };
        const report = await dryRun(endpoints, { access, query }, { client, mediaType: 'text/turtle', bytes });
        return [JSON.stringify(reportJson(report))];
      },
    },
  ];
}
