/**
 * SolidOS (mashlib), the data browser of Solid, in a browser of another origin: its own buttons, and the update manager of its
 * panes. Its 220 packages are not a dependency: the spec needs the path of the package's directory `dist` in `MASHLIB`, and is
 * skipped without it.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../support/browser.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { patience } from '../support/patience.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { until } from '../support/until.js';
import { fetchWith } from './journey.js';

const { MASHLIB: dist } = process.env;
const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };
const name = 'http://xmlns.com/foaf/0.1/name';

describe('SolidOS under the Solid profile', function () {
  this.timeout(120_000);
  const [owner, other] = [ed25519Identity(), ed25519Identity()];
  let server: SpecServer;
  let app: Server;
  let browser: Browser;
  let page: Page;
  let document: string;
  let [own, unauthorized]: (typeof fetch)[] = [];
  const tokens = (identity: typeof owner): string => credential(identity, { aud: server.root.slice(0, -1) });

  before(async function () {
    if (!dist || !chromiumPath()) return this.skip();
    server = await startSpecServer({ settings: { profile: 'solid', owners: owner.did } });
    [own, unauthorized] = [fetchWith(tokens(owner)), fetchWith(tokens(other))];
    document = `${server.root}notes/ada.ttl`;
    app = createServer((req, res) => {
      const file = basename((req.url ?? '/').split('?', 1)[0]!) || 'databrowser.html';
      try {
        const content = readFileSync(join(dist, file));
        res.setHeader('Content-Type', types[file.split('.').at(-1)!] ?? 'application/octet-stream').end(content);
      } catch {
        res.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    browser = await chromium.launch({ executablePath: chromiumPath()!, args: ['--no-sandbox', '--disable-gpu'] });
  });
  after(async () => {
    await browser?.close();
    app?.close();
    await server?.stop();
  });

  /** Opens the document as an agent. Every request carries a credential, because mashlib signs in with Solid-OIDC only. */
  const openedBy = async (identity: typeof owner): Promise<Page> => {
    const opened = await (await browser.newContext()).newPage();
    opened.setDefaultTimeout(30_000 * patience);
    const script = (root: string, token: string, did: string): void => {
      const ask = globalThis.fetch.bind(globalThis);
      globalThis.fetch = (target, init = {}) => {
        const url = target instanceof Request ? target.url : String(target);
        if (!url.startsWith(root)) return ask(target, init);
        const headers = new Headers(init.headers ?? (target instanceof Request ? target.headers : undefined));
        headers.set('Authorization', `Bearer ${token}`);
        return ask(url, { ...init, headers });
      };
      Object.assign(globalThis, { $SolidTestEnvironment: { username: did } });
    };
    await opened.addInitScript(
      `(${script})(${[server.root, tokens(identity), identity.did].map((each) => JSON.stringify(each))})`,
    );
    await opened.goto(`http://localhost:${(app.address() as AddressInfo).port}/`);
    await opened.waitForFunction('globalThis.panes && globalThis.SolidLogic');
    await opened.evaluate(
      `panes.getOutliner(document).GotoSubject(SolidLogic.store.sym(${JSON.stringify(document)}), true, undefined, true)`,
    );
    return opened;
  };
  const shown = (text: string) => page.locator('#OutlineView', { hasText: text }).waitFor();
  const click = (what: string) => page.locator(`#OutlineView ${what}`).last().dispatchEvent('click');
  const statusFor = async (send: typeof fetch): Promise<number> => (await send(document)).status;

  it('signs in and reads a document in a container that its PUT created', async () => {
    const body = `<#me> a <http://xmlns.com/foaf/0.1/Person> ; <${name}> "Ada" .`;
    const made = await own!(document, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body });
    expect(made.status).to.equal(201);
    page = await openedBy(owner);
    await shown('Ada');
    expect(await page.evaluate('SolidLogic.authn.currentUser().value')).to.equal(owner.did);
  });

  it('edits', async () => {
    const update = (from: string, to: string): string => `(() => {
      const { store } = SolidLogic;
      const it = store.sym(${JSON.stringify(document)});
      const saying = (text) => $rdf.st(store.sym(it.value + '#me'), store.sym(${JSON.stringify(name)}), $rdf.lit(text), it);
      return store.updater.update([saying(${JSON.stringify(from)})], [saying(${JSON.stringify(to)})]);
    })()`;
    await page.evaluate(update('Ada', 'Countess'));
    expect(await (await own!(document)).text())
      .to.include('Countess')
      .and.not.include('"Ada"');
    await page.evaluate(update('Countess', 'Ada Lovelace'));
    expect(await (await own!(document)).text()).to.include('Ada Lovelace');
  });

  it('shares, shares again and revokes', async () => {
    expect([await statusFor(unauthorized!), await statusFor(fetch)]).to.deep.equal([403, 401]);
    await click('img[title="Sharing"]');
    await page.getByRole('button', { name: 'Set specific sharing for this file' }).click();
    await page.locator('#OutlineView img[title^="Add"]').first().waitFor();
    expect((await own!(`${document}.acl`)).status).to.equal(200);
    await click('img[title^="Add"]');
    await page.getByAltText('Add Everyone').or(page.getByTitle('Add Everyone')).first().waitFor();
    await page.getByAltText('Add Everyone').or(page.getByTitle('Add Everyone')).first().dispatchEvent('click');
    await until(async () => (await statusFor(fetch)) === 200, 'the document is public');
    expect((await unauthorized!(document, { method: 'DELETE' })).status).to.equal(403);
    await page.getByRole('button', { name: /Remove custom sharing/ }).click();
    await until(async () => (await own!(`${document}.acl`)).status === 404, 'the list is deleted');
    expect([await statusFor(own!), await statusFor(unauthorized!)]).to.deep.equal([200, 403]);
  });

  it('shows an error to an agent without access', async () => {
    page = await openedBy(other);
    await page
      .getByText(/forbidden|403|not.{0,20}allowed|permission/i)
      .first()
      .waitFor();
    expect(await page.locator('#OutlineView', { hasText: 'Lovelace' }).count()).to.equal(0);
  });
});
