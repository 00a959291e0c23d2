/** Commands of the server. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { aclFaults } from '../authorization/acl-faults.js';
import type { CommandHelp } from '../component/component.js';
import { type ExplainedRequest, explainDecision } from '../resources/explanation.js';
import { linksetFaults } from '../resources/metadata.js';
import type { Storage } from '../resources/storage.js';
import { describeSettings, SettingsError } from '../settings/settings.js';
import { isOurLevel, levelFaults } from '../storage/level/classic-level.js';
import { isDamage, isInUse } from '../storage/level/durable-level.js';
import { checkStore } from '../storage/transactions/check.js';
import { addDigests, repair, type StorageFault } from '../storage/transactions/repair.js';
import type { Store } from '../storage/transactions/store.js';
import { LwsError } from '../tools/errors.js';
import { createLog, type Log } from '../tools/log.js';
import { releaseMemoryWhenIdle } from '../tools/threads/idle-memory.js';
import { packageRoot } from '../tools/threads/package-root.js';
import { banner } from './banner.js';
import { type Context, onStore, print, progress } from './command-context.js';
import { assertCanListen } from './listeners/listeners.js';
import { createServer, prepareServer } from './server.js';
import { type CoreSettings, coreSettings, readBaseUri } from './settings/core-settings.js';
import { consolePageOf, signInLink } from './sign-in-link.js';
import { assertStorage, hasStorage } from './storage/open-store.js';
import { givenIdentity, signCredential, signLinkCredential } from './storage/owner-credential.js';
import { rotateKey } from './storage/verification-method.js';

/** Exit code of `check` for a damaged storage. */
const damaged = 3;

interface HouseCommand extends CommandHelp {
  /** Runs the command. @returns the exit code */
  run(context: Context): Promise<number>;
}

/** Commands of the server, in the order of the help. */
export const commands: Readonly<Record<string, HouseCommand>> = {
  serve: {
    help: 'run the server (default)',
    example: 'serve --base-uri=http://localhost:8080 --data-dir=lws-data',
    run: serve,
  },
  owner: {
    help: 'print an owner identity and a bearer credential for it',
    flags: {
      key: 'FILE use the key in this file',
      'new-key': 'FILE create a key and store it in this file',
      ttl: 'SECONDS validity of the credential (3600)',
      audience: 'URI storage that the credential is for (lws.base-uri)',
    },
    example: 'owner --key lws-data/owner.key --ttl 600',
    run: owner,
  },
  check: {
    help: 'verify the database of a stopped server. Exits with 3 if it is damaged',
    switches: {
      content: 'also read every blob and compare its digest',
      repair: 'remove deleted data that returned, correct counters, and add digests to what earlier versions wrote',
    },
    example: 'check --content --data-dir=lws-data',
    run: check,
  },
  explain: {
    help: 'print whether a request would be allowed, and the deciding rule',
    operand: 'IRI',
    flags: {
      as: 'URI subject of the request (default: anonymous)',
      method: 'METHOD method of the request (GET)',
      client: 'URI client application of the request',
      origin: 'URI origin of the page that sends the request',
      purpose: 'TEXT purpose of the request',
    },
    example: 'explain --as https://id.example/alice --method PUT http://localhost:8080/notes/hello',
    run: explainRequest,
  },
  'rotate-webhook-key': {
    help: 'create a new key for signing notifications, used from the next start',
    example: 'rotate-webhook-key --data-dir=lws-data',
    run: rotateWebhookKey,
  },
  leveldb: {
    help: 'print whether LevelDB has the corrections of Quadpod, or compile it with them',
    switches: { compile: 'compile it for this machine. Needs g++ or clang++, patch and the headers of Node.js' },
    example: 'leveldb --compile',
    run: leveldb,
  },
  settings: {
    help: 'print the effective settings and their sources',
    switches: { describe: 'also print the description of each setting' },
    example: 'settings --config quadpod.json',
    run: printSettings,
  },
};

async function serve({ settings, components }: Context): Promise<number> {
  const core = settings.of(coreSettings);
  const log: Log = createLog(core.logLevel);
  // A failed request must not end other requests. The log contains the stack.
  process.on('unhandledRejection', (error) => log.fatal({ err: error }, 'unhandled rejection'));
  const refused = (error: unknown): never => {
    throw listenRefusal(error, core, readBaseUri(core).url);
  };
  // A failed first start must not bind the data directory to this address and its owner.
  if (!hasStorage(core.dataDir)) await assertCanListen(core).catch(refused);
  const server = await createServer(settings, { components, log, progress });
  const port = await server.listen().catch(async (error: unknown) => {
    await server.close();
    return refused(error);
  });
  // Only the command line does this, because an embedding program controls its own memory.
  releaseMemoryWhenIdle();
  const ended = new Promise<number>((resolve, reject) => {
    const stop = (signal: string): void => {
      process.once('SIGINT', () => process.exit(130));
      log.info({ signal }, 'stopping');
      server.close().then(() => resolve(0), reject);
    };
    process.once('SIGTERM', stop).once('SIGINT', stop);
    // SIGHUP ends a server in a terminal. Without a terminal it means that certificates were renewed.
    if (process.stderr.isTTY) process.once('SIGHUP', stop);
    else process.on('SIGHUP', () => server.reload());
  });
  process.stderr.write(
    await banner({ ...server, port }, settings, consolePageOf(server.baseUri, components, settings)),
  );
  return ended;
}

async function owner({ settings, flags, components }: Context): Promise<number> {
  const { storage } = readBaseUri(settings.of(coreSettings));
  const longest = settings.all().find(({ setting: { name } }) => name === 'lws.token.max-lifetime-seconds')?.value;
  const audience = flags['audience'] ?? storage.slice(0, -1);
  const ttl = Number(flags['ttl'] ?? 3600);
  if (!Number.isSafeInteger(ttl) || ttl < 1)
    throw new SettingsError(`--ttl is ${flags['ttl']}. Use a number of seconds.`);
  // If the audience is another storage, that storage checks the lifetime itself.
  if (flags['audience'] === undefined && ttl > Number(longest ?? ttl))
    throw new SettingsError(
      `--ttl is ${ttl}, but this storage accepts at most ${longest} seconds (lws.token.max-lifetime-seconds).`,
    );
  const identity = givenIdentity(flags);
  const credential = await signCredential(identity, audience, ttl);
  const page = consolePageOf(audience.replace(/\/$/, ''), components, settings);
  const lines = [`Owner:      ${identity.did}`, `Credential: ${credential}`, `Valid for:  ${ttl} seconds`];
  if (page) {
    const link = signInLink(page, await signLinkCredential(identity, audience, ttl));
    lines.push(`Sign in at: ${link}`, 'The link works in one browser only.');
  }
  if (flags['key'] === undefined && flags['new-key'] === undefined)
    lines.push(`Key (keep it secret, and reuse it with --key FILE): ${JSON.stringify(identity.key)}`);
  process.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

export async function check(context: Context): Promise<number> {
  try {
    return await checkAll(context);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const { message } = error as Error;
    print(`The database is damaged: ${message.replace(/\.$/, '')}. Restore it from a backup: quadpod restore DIR.`);
    return damaged;
  }
}

/** Maximum number of rounds of a repair: removals first, then counters. */
const maxRounds = 5;

async function checkAll(context: Context): Promise<number> {
  const { flags, components } = context;
  const look = async (store: Store): Promise<readonly StorageFault[]> => {
    const shown = progress('Checking');
    const options = {
      content: flags['content'] === 'true',
      onProgress: (what: string, done: number) => shown(done, Number.POSITIVE_INFINITY, `${done} ${what}`),
    };
    const { found, resources, triples, blobs, bytes } = await checkStore(store, options);
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
    const faults: StorageFault[] = [...found];
    for await (const fault of linksetFaults(store)) faults.push(fault);
    for await (const fault of aclFaults(store)) faults.push(fault);
    for (const { name, check } of components)
      for await (const text of check?.(store) ?? []) faults.push({ text, rebuilds: name });
    for (const { text } of faults) print(text);
    const verdict = faults.length === 0 ? 'all in order' : `${faults.length} faults`;
    print(`${resources} resources, ${triples} triples, ${blobs} blobs, ${bytes} bytes: ${verdict}.`);
    return faults;
  };
  const repairs = async (store: Store): Promise<boolean> => {
    const added = await addDigests(store.level);
    if (added > 0) print(`Added digests to ${added} graphs of earlier versions.`);
    for (let round = 0; round < maxRounds; round++) {
      const faults = await look(store);
      if (faults.length === 0) return true;
      const outdated = components.filter(({ name }) => faults.some(({ rebuilds }) => rebuilds === name));
      for (const { name, rebuild } of outdated) {
        await rebuild?.(store);
        if (rebuild) print(`The next start builds the index of ${name} again.`);
      }
      const repaired = await repair(store.level, faults);
      for (const { text } of repaired) print(`Repaired: ${text}`);
      if (repaired.length === 0 && !outdated.some(({ rebuild }) => rebuild)) return false;
    }
    return false;
  };
  const isRepair = flags['repair'] === 'true';
  const isWhole = await onStore(context, async (store) =>
    isRepair ? repairs(store) : (await look(store)).length === 0,
  );
  return isWhole ? 0 : damaged;
}

async function explainRequest({ settings, flags, operands, components }: Context): Promise<number> {
  const [iri = ''] = operands;
  const { as: subject, client, origin, purpose } = flags;
  const access = {
    ...(subject === undefined ? {} : { principal: { subject, ...(client === undefined ? {} : { client }) } }),
    ...(origin === undefined ? {} : { origin }),
    ...(purpose === undefined ? {} : { purpose }),
  };
  assertStorage(settings.of(coreSettings).dataDir);
  const { storage, close } = await prepareServer(settings, { components, log: createLog('warn'), progress }).catch(
    (error: unknown) => {
      throw isInUse(error) ? new SettingsError(whereExplained(settings, components)) : error;
    },
  );
  try {
    for (const line of await explain(storage, { access, method: (flags['method'] ?? 'GET').toUpperCase(), iri }))
      print(line);
    return 0;
  } finally {
    await close();
  }
}

/** Returns the message for a command that needs the storage while a server has it open: that server explains decisions. */
function whereExplained(settings: Context['settings'], components: Context['components']): string {
  const core = settings.of(coreSettings);
  const baseUri = readBaseUri(core).storage.slice(0, -1);
  const page = consolePageOf(baseUri, components, settings);
  const where = page
    ? ` It answers in the console, at ${page}#/admin?tab=explain, and to controllers at ${baseUri}${core.systemPrefix}/explain?as=URI&method=GET&iri=IRI.`
    : '';
  return `A server has the storage open.${where} Stop it to use this command.`;
}

async function rotateWebhookKey({ settings }: Context): Promise<number> {
  const { dataDir } = settings.of(coreSettings);
  assertStorage(dataDir);
  rotateKey(join(dataDir, 'webhook.key'), join(dataDir, 'webhook-old.key'));
  print(
    'Notifications are signed with a new key from the next start. The old key stays published for five more minutes.',
  );
  return 0;
}

async function leveldb({ flags }: Context): Promise<number> {
  if (flags['compile'] === 'true')
    return spawnSync(process.execPath, [join(packageRoot, 'leveldb/build.mjs')], { stdio: 'inherit' }).status ?? 1;
  for (const fault of levelFaults) print(`${fault}.`);
  print(
    isOurLevel
      ? 'LevelDB has the corrections: deleted data stays deleted, and damaged tables are detected.'
      : 'This is the LevelDB of npm: deleted data can return, and damaged tables may not be detected. ' +
          'Compile it with the corrections: quadpod leveldb --compile.',
  );
  return isOurLevel ? 0 : 1;
}

async function printSettings({ settings, flags }: Context): Promise<number> {
  for (const { name, value, source, doc } of describeSettings(settings)) {
    print(`${name} = ${value === undefined ? 'not shown' : JSON.stringify(value)}  (${source})`);
    if (flags['describe'] === 'true') print(`    ${doc}`);
  }
  return 0;
}

/** Returns the lines that describe a decision. @throws SettingsError for an invalid method or an IRI outside the storage */
async function explain(storage: Storage, request: ExplainedRequest): Promise<string[]> {
  const { access, method, iri } = request;
  const { allowed, rule, needs, exists } = await explainDecision(storage, request).catch((error: unknown) => {
    throw error instanceof LwsError ? new SettingsError(error.message) : error;
  });
  const who = access.principal ? access.principal.subject : 'an anonymous client';
  return [
    `${method} ${iri}`,
    `  needs ${needs.mode} on ${needs.iri}${exists ? '' : ', which does not exist'}.`,
    `  ${who} ${allowed ? 'may' : 'may not'}: ${rule}.`,
  ];
}

/** Converts a socket error to a message for the operator. Returns other errors unchanged. */
function listenRefusal(error: unknown, { listenHost }: Pick<CoreSettings, 'listenHost'>, url: URL): unknown {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  const place = `port ${port}${address === undefined ? '' : ` of ${address}`}`;
  if (code === 'EADDRINUSE') {
    const other = new URL(url);
    other.port = String(((port ?? 8080) % 65535) + 1);
    return new SettingsError(
      `Another program uses ${place}. Stop it, or serve another storage at another address: ` +
        `--base-uri=${other.href.replace(/\/$/, '')} --data-dir=lws-data-${other.port}. ` +
        'Changing only lws.listen-port is not enough: clients, and the commands that this server prints, would still ' +
        'send their credentials to the address of lws.base-uri, where the other program listens.',
    );
  }
  if (code === 'EACCES')
    return new SettingsError(
      `The user of this process may not listen on ${place}. Use a lws.listen-port from 1024, behind a proxy that has the port of lws.base-uri.`,
    );
  if (['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'].includes(code ?? ''))
    return new SettingsError(
      `lws.listen-host is ${JSON.stringify(listenHost)}. Use a name or address of this machine, such as 127.0.0.1 or 0.0.0.0 (${code}).`,
    );
  return error;
}
