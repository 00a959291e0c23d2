/** A real browser for specs: Debian's Chromium, driven by Playwright. It must not know what is looked at. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type SpecServer, type SpecServerOptions, startSpecServer } from './server.js';

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
];

/** Where Chromium is: in `CHROMIUM`, or in a usual place. */
export const chromiumPath = (): string | undefined =>
  process.env['CHROMIUM'] ?? usualPlaces.find((path) => existsSync(path));

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

type Served = Pick<SpecServer, 'root' | 'ownerToken' | 'stop' | 'server' | 'dataDir' | 'log'>;

/** The console of a server in a browser, and all that the browser complained of. */
export class Console {
  server!: Served;
  private browser!: Browser;
  private readonly contexts: BrowserContext[] = [];
  /** Violations of the content security policy, and errors of scripts. */
  readonly complaints: string[] = [];
  /** Origins that were asked beside the server's own. */
  readonly elsewhere = new Set<string>();

  /** @param server another one than of the options */
  async start(options: SpecServerOptions = {}, server?: Served): Promise<void> {
    this.server = server ?? (await startSpecServer(options));
    this.browser = await chromium.launch({
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
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    await this.server?.stop();
  }

  /** The address of the console, signed in as the owner. */
  get ownerLink(): string {
    return `${this.server.root}app#token=${this.server.ownerToken}`;
  }

  at(place: string): string {
    return `${this.server.root}app#/${place}`;
  }

  /** A page of a browser profile of its own: another person. */
  async person(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    this.contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
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

  /** A page of the owner, with the root listing before it. */
  async owner(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.person(options);
    await page.goto(this.ownerLink);
    await page.locator('.who >> text=did:key').waitFor();
    await page.locator('main h1').waitFor();
    return page;
  }

  /** Says yes to the question that a link asks where somebody else is signed in. */
  async agree(page: Page): Promise<void> {
    await page.click('dialog[open] button >> text=Sign in');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    await page.locator('.who >> text=did:key').waitFor();
  }

  /** Goes to a place within the console that is open already. */
  async go(page: Page, place: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
    await page.locator('main h1').first().waitFor();
  }
}

/** What axe-core finds wrong with what is shown (WCAG 2.1 A and AA, best practice): one line each. */
export async function axeFindings(page: Page): Promise<string[]> {
  // Over the protocol: the policy of the page lets nothing be added to it.
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
    // axe-core fails where what it looks at is exchanged under it, as an editor does after a pause in typing.
    for (let tries = 1; ; tries++)
      try {
        await evaluated(`${readFileSync(axe, 'utf8')}; 0`);
        return (await evaluated(`axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }).then(({ violations }) =>
          violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`)) as string[];
      } catch (error) {
        if (tries === 5) throw error;
        await page.waitForTimeout(300);
      }
  } finally {
    await session.detach();
  }
}

/** A block of specs in a browser; without one they are skipped, and the run says so. */
export function describeInBrowser(title: string, body: (this: Mocha.Suite) => void): void {
  if (chromiumPath() !== undefined) {
    describe(title, function () {
      this.timeout(120_000);
      body.call(this);
    });
    return;
  }
  describe.skip(`${title} (skipped: no Chromium; install it, or name it in CHROMIUM)`, body);
}
