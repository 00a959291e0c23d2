/** `quadpod events`: prints the events of the running server on standard output. */
import type { CommandContext } from '../../lib/component/component.js';
import { SettingsError } from '../../lib/settings/settings.js';

/**
 * Connects to the server at its base URI with the owner's credential, and prints events until either side disconnects. With
 * --since and without --follow, prints only past events.
 */
export async function printEvents(context: CommandContext): Promise<number> {
  const { baseUri, systemPrefix, ownerCredential, print, flags } = context;
  const credential = await ownerCredential();
  const url = new URL(`${baseUri}${systemPrefix}/events`);
  const { since, follow = String(since === undefined) } = flags;
  if (since !== undefined) url.searchParams.set('since', since);
  url.searchParams.set('follow', follow);
  const response = await fetch(url, { headers: { Authorization: `Bearer ${credential}` } }).catch((error: unknown) => {
    const reason = ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
    throw new SettingsError(
      `No server responds at ${baseUri}: ${reason || 'connection refused'}. Start it, or set lws.base-uri.`,
    );
  });
  if (response.status !== 200 || !response.body) {
    const { detail } = (await response.json().catch(() => ({}))) as { detail?: string };
    const advice = [400, 410].includes(response.status)
      ? ''
      : ' Is the server running, and does this data directory belong to it?';
    process.stderr.write(`quadpod: ${baseUri} answered ${response.status}.${advice}${detail ? ` ${detail}` : ''}\n`);
    return 1;
  }
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line !== '') print(line);
  }
  return 0;
}
