/** `quadpod events --follow`: the running server's events on the standard output, for a pipe. */
import type { CommandContext } from '../../lib/component.js';
import { SettingsError } from '../../lib/settings.js';

/** Connects to the server at its base URI with the owner's credential, and prints until either ends. */
export async function printEvents({ baseUri, systemPrefix, ownerCredential, print }: CommandContext): Promise<number> {
  const credential = await ownerCredential();
  const response = await fetch(`${baseUri}${systemPrefix}/events`, {
    headers: { Authorization: `Bearer ${credential}` },
  }).catch((error: unknown) => {
    const reason = ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
    throw new SettingsError(
      `No server answers at ${baseUri}: ${reason || 'connection refused'}. Start it, or set lws.base-uri.`,
    );
  });
  if (response.status !== 200 || !response.body) {
    process.stderr.write(
      `quadpod: ${baseUri} answered ${response.status}. Is the server running, and is this its owner?\n`,
    );
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
