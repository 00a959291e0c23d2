/** Runs Chromium with Playwright. Independent of the pages under test. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { patience } from './patience.js';
import { type SpecServer, type SpecServerOptions, startSpecServer } from './server.js';

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
];

/** Returns the path of Chromium: `CHROMIUM`, or the first of the usual paths that exists. */
export const chromiumPath = (): string | undefined =>
  process.env['CHROMIUM'] ?? usualPlaces.find((path) => existsSync(path));

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

type Served = Pick<SpecServer, 'root' | 'ownerToken' | 'stop' | 'server' | 'dataDir' | 'log'>;

/** The console of a server in a browser, with the errors that the browser reported. */
export class Console {
  server!: Served;
  private readonly contexts: BrowserContext[] = [];
  /** CSP violations and script errors. */
  readonly complaints: string[] = [];
  /** Contacted origins other than the server's. */
  readonly elsewhere = new Set<string>();

  /** Starts the browser. @param server a running server, used instead of a new one with the options */
  async start(options: SpecServerOptions = {}, server?: Served): Promise<void> {
    this.server = server ?? (await startSpecServer(options));
  }

  async stop(): Promise<void> {
    await Promise.all(this.contexts.map((context) => context.close()));
    await this.server?.stop();
  }

  /** URL of the console that signs in as the owner. */
  get ownerLink(): string {
    return `${this.server.root}app#token=${this.server.ownerToken}`;
  }

  at(place: string): string {
    return `${this.server.root}app#/${place}`;
  }

  /** Opens a page in a new browser profile, as another user. */
  async person(options: BrowserContextOptions = {}): Promise<Page> {
    browser ??= launch();
    const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, ...options });
    this.contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000 * patience);
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !/Failed to load resource/.test(text)) this.complaints.push(text);
      else if (/Content Security Policy|Trusted/i.test(text)) this.complaints.push(text);
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (/^https?:/.test(protocol) && origin !== new URL(this.server.root).origin) this.elsewhere.add(origin);
    });
    return page;
  }

  /** Opens a page signed in as the owner, with the root listing. */
  async owner(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.person(options);
    await page.goto(this.ownerLink);
    await page.locator('.who [title^="did:key"]').waitFor();
    await page.locator('main h1').waitFor();
    return page;
  }

  /** Navigates within the open console. */
  async go(page: Page, place: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
    await page.locator('main h1').first().waitFor();
  }
}

/** Rules of axe-core: WCAG 2.1 A and AA, and best practice. */
const everyRule = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];

/** Returns the accessibility violations that axe-core finds, one line each. @param rules tags or names of rules */
export async function axeFindings(page: Page, rules: readonly string[] = everyRule): Promise<string[]> {
  // The CSP of the page blocks injected scripts. The DevTools protocol is not subject to it.
  const session = await page.context().newCDPSession(page);
  const evaluated = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined)
      throw new Error(`axe-core: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  };
  try {
    // axe-core fails if the DOM changes while it runs, as an editor does after a pause in typing.
    for (let tries = 1; ; tries++)
      try {
        if (await evaluated('typeof axe === "undefined"')) await evaluated(`${readFileSync(axe, 'utf8')}; 0`);
        return (await evaluated(`axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
          violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`)) as string[];
      } catch (error) {
        if (tries === 5) throw error;
        await page.waitForTimeout(300);
      }
  } finally {
    await session.detach();
  }
}

/** Same, in dark and light mode. Only the contrast depends on the colours. */
export async function axeFindingsInBothModes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await axeFindings(page, ['color-contrast']);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...dark, ...(await axeFindings(page))];
}

/** Browser of all blocks in this process. Each `Console` has its own profiles. */
let browser: Promise<Browser> | undefined;
const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath()!,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

/** Closes the browser after all blocks, as a root hook of mocha. */
let closesAtEnd = false;
function closeAtEnd(): void {
  if (closesAtEnd) return;
  closesAtEnd = true;
  after(async () => (await browser)?.close());
}

/** Registers a block of browser specs. Without Chromium the block is skipped with a message. */
export function describeInBrowser(title: string, body: (this: Mocha.Suite) => void): void {
  if (chromiumPath() !== undefined) {
    closeAtEnd();
    describe(title, function () {
      this.timeout(120_000);
      body.call(this);
    });
    return;
  }
  describe.skip(`${title} (skipped: no Chromium found, install it or set CHROMIUM)`, body);
}
