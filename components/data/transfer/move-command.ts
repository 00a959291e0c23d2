/** `quadpod mv` and `quadpod cp`: MOVE and COPY requests to the running server. */

import { askServer, CommandError } from '../../../lib/component/commands.js';
import type { CommandContext } from '../../../lib/component/component.js';
import { isInUse } from '../../../lib/storage/level/durable-level.js';

export async function runMove(context: CommandContext, method: 'MOVE' | 'COPY'): Promise<number> {
  const { operands, flags: given, baseUri, print } = context;
  const [source, destination] = operands.map((operand) => iriOf(baseUri, operand));
  if (source === undefined || destination === undefined || operands.length > 2)
    throw new CommandError('Name the source and the destination: IRIs of the storage, or paths such as /notes/draft.');
  await assertServer(context);
  const name =
    destination.endsWith('/') && !source.endsWith('/') ? destination + source.split('/').at(-1) : destination;
  const headers = {
    Destination: name,
    Overwrite: given['overwrite'] === undefined ? 'F' : 'T',
    ...(given['rewrite-links'] === undefined ? {} : { Prefer: 'rewrite-links' }),
  };
  await askServer(context, source, { method, headers });
  print(`${source} was ${method === 'MOVE' ? 'moved' : 'copied'} to ${name}`);
  return 0;
}

/** Returns the IRI for an operand. @throws CommandError for an IRI of another server */
function iriOf(baseUri: string, operand: string): string {
  const iri = operand.startsWith('/') ? baseUri + operand : operand;
  if (!iri.startsWith(`${baseUri}/`)) throw new CommandError(`${operand} is not an IRI of this storage: ${baseUri}/.`);
  return iri;
}

/** Asserts that a server is running. @throws CommandError */
async function assertServer(context: CommandContext): Promise<void> {
  context.assertStorage();
  const isOpen = await context
    .onStore(async () => false)
    .catch((error: unknown) => {
      if (isInUse(error)) return true;
      throw error;
    });
  if (!isOpen) throw new CommandError('No server has the storage open. Start it first: npm start.');
}
