/** Resources of a storage in its console: created as the owner, opened in a page, and edited. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { Console } from './browser.js';
import { type Answer, request } from './http.js';

export class ConsoleResources {
  constructor(private readonly console: Console) {}

  iri(name: string): string {
    return this.console.server.root + name;
  }

  send(
    method: string,
    name: string,
    headers: Readonly<Record<string, string>> = {},
    body?: string | Uint8Array,
  ): Promise<Answer> {
    const authorized = { Authorization: `Bearer ${this.console.server.ownerToken}`, ...headers };
    return request(this.iri(name), { method, headers: authorized, body });
  }

  /** Overwrites a resource, like a concurrent client. */
  async put(name: string, mediaType: string, body: string | Uint8Array): Promise<void> {
    const now = await this.send('HEAD', name);
    const condition: Record<string, string> = now.status === 200 ? { 'If-Match': now.headers['etag'] ?? '' } : {};
    const answer = await this.send('PUT', name, { 'Content-Type': mediaType, ...condition }, body);
    expect(answer.status, answer.text).to.be.within(200, 299);
  }

  /** Imports small RDF resources, named `n0` and so on. */
  async importMany(container: string, count: number): Promise<void> {
    const graphs = Array.from({ length: count }, (_, i) => `<a:s> <a:p> "x" <${this.iri(container)}n${i}> .\n`);
    const into = new URLSearchParams({ into: this.iri('') });
    const begun = await this.send(
      'POST',
      `.lws/import?${into}`,
      { 'Content-Type': 'application/n-quads' },
      graphs.join(''),
    );
    expect(begun.status, begun.text).to.equal(202);
    const ended = await request(begun.headers['location']!, {
      headers: { Authorization: `Bearer ${this.console.server.ownerToken}`, Accept: 'application/x-ndjson' },
    });
    expect(ended.text.trim().split('\n').at(-1)).to.include(`"created":${count}`);
  }

  async delete(name: string): Promise<void> {
    const now = await this.send('HEAD', name);
    const answer = await this.send('DELETE', name, { 'If-Match': now.headers['etag'] ?? '' });
    expect(answer.status, answer.text).to.be.within(200, 299);
  }

  async text(name: string, accept = 'text/turtle, */*;q=0.1'): Promise<string> {
    return (await this.send('GET', name, { Accept: accept })).text;
  }

  place(name: string): string {
    return `resource?${new URLSearchParams({ at: this.iri(name) })}`;
  }

  /** Opens a resource in the open console and waits until part of it is visible. */
  async open(page: Page, name: string, title = decodeURIComponent(name.replace(/^.*\//, ''))): Promise<void> {
    await this.console.go(page, this.place(name));
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
    await page
      .locator('resource-view')
      .locator('[role=tabpanel]:not([hidden]), [role=alert], .refused')
      .first()
      .waitFor();
  }

  /** Opens the Turtle of a resource, whose data is shown first. */
  async openSource(page: Page, name: string): Promise<void> {
    await this.open(page, name);
    await page.getByRole('tab', { name: 'Source', exact: true }).click();
  }
}

/** Returns the content of the visible editor. */
export const editor = (page: Page): Locator => page.locator('.cm-content:visible').first();

/** Appends a string in the visible editor, as one input event. */
export async function append(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(text);
}

/** Presses the visible Save button and waits until the changes are saved. */
export async function save(page: Page): Promise<void> {
  await page.locator('.state:visible', { hasText: 'Unsaved changes' }).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('.state:visible', { hasText: 'No unsaved changes' }).waitFor();
}
