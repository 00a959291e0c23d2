/** `<share-acl>`: shows the effective access control list of a resource, with buttons to change, create and remove it. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Quad } from 'n3';
import { confirmed } from '../frame/confirm.js';
import { nameInText, Page, placeHref, scrollTable, submitted } from '../frame/page.js';
import { storageUri, subjectNow } from '../session/session.js';
import { Refusal } from '../storage/api.js';
import { isContainer } from '../storage/names.js';
import * as model from './acl-model.js';
import { type EffectiveAcl, effectiveAcl, inheritedAcl, sendAclDelete, sendAclPut } from './acl-requests.js';
import { everybody, mayBePublic, nameOfPerson, person, personFields, personFrom, signedIn } from './people.js';

const scopeNames: Readonly<Record<model.Scope, string>> = {
  both: 'This folder and what is in it',
  here: 'This folder only',
  below: 'Its items only',
};

@customElement('share-acl')
export class ShareAcl extends Page {
  @property() at = storageUri;
  @state() private effective: EffectiveAcl | undefined;
  @state() private state: 'loading' | 'known' | 'hidden' | 'denied' = 'loading';
  @state() private isAgent = true;
  private quads: Quad[] = [];
  private busy = false;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('at')) return;
    this.state = 'loading';
    void this.readRules();
  }

  private readRules(): Promise<void> {
    const { at } = this;
    return this.reading(async () => {
      const found = await effectiveAcl(at).catch((error: unknown) => {
        if (error instanceof Refusal && [401, 403, 404].includes(error.status)) return 'denied' as const;
        throw error;
      });
      if (at !== this.at) return;
      if (found === 'denied') {
        this.state = found;
        return;
      }
      this.quads = found ? model.parseAcl(found.turtle, found.of) : [];
      this.effective = found;
      this.state = found ? 'known' : 'hidden';
    });
  }

  private get isOwn(): boolean {
    return this.effective?.of === this.at;
  }

  protected override render(): TemplateResult {
    return html`<h2>Rules</h2>${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : this.renderRules()}`;
  }

  private renderRules(): TemplateResult {
    if (this.state === 'loading') return html`<p>Loading …</p>`;
    if (this.state === 'denied')
      return html`<p class="empty">Only people with Control can see and change these rules.</p>`;
    if (!this.effective) return html`<p>The rules are inherited from a folder that you cannot see.</p>`;
    const { of } = this.effective;
    return html`
      ${
        this.isOwn
          ? html`<p>This item has its own rules. Inherited rules do not apply.</p>`
          : html`<p>No own rules. Rules are inherited from <a class="iri" href=${placeHref('sharing', { at: of })}>${of}</a> for what is in it.</p>`
      }
      ${this.renderTable(of)}
      ${this.isOwn ? this.renderOwn() : html`<button type="button" class="primary" @click=${this.make}>Create own rules</button> <span class="soft">They begin as a copy of these.</span>`}`;
  }

  private renderTable(of: string): TemplateResult {
    const { rows, others } = model.tableOf(this.quads, of);
    const relevant = rows
      .filter(({ scope }) => this.isOwn || scope !== 'here')
      .sort((a, b) => nameOfPerson(a.iri).localeCompare(nameOfPerson(b.iri)) || a.scope.localeCompare(b.scope));
    return html`
      ${scrollTable(
        'People and what they may do',
        ['Who', ...(isContainer(of) && this.isOwn ? ['Applies to'] : []), ...model.modes],
        repeat(
          relevant,
          ({ kind, iri, scope }) => `${kind} ${scope} ${iri}`,
          (row) => this.renderRow(row, of),
        ),
      )}
      <p class="soft">Write includes Append, and deleting. Control is the right to change these rules.</p>
      ${others > 0 ? html`<p>${others === 1 ? 'One more rule says' : `${others} more rules say`} what this table cannot show, for example for one web application alone. Changes here keep ${others === 1 ? 'it' : 'them'}.</p>` : nothing}`;
  }

  private renderRow(row: model.AclRow, of: string): TemplateResult {
    const name = `${row.kind === 'agentGroup' ? 'the group ' : ''}${nameOfPerson(row.iri)}`;
    return html`<tr>
      <th scope="row">${row.kind === 'agentGroup' ? 'Group: ' : nothing}${person(row.iri)}</th>
      ${isContainer(of) && this.isOwn ? html`<td>${scopeNames[row.scope]}</td>` : nothing}
      ${model.modes.map(
        (mode) => html`<td><input type="checkbox"
          aria-label=${`${mode} for ${name}`} .checked=${live(row.modes.includes(mode))}
          ?disabled=${!this.isOwn} @change=${(event: Event) => this.toggle(row, mode, (event.target as HTMLInputElement).checked)}></td>`,
      )}
    </tr>`;
  }

  private renderOwn(): TemplateResult {
    const others = this.isAgent
      ? personFields('acl')
      : html`<p class="warning">This rule is for all callers, not for one person.</p>`;
    return html`
      <form class="card" @submit=${this.add}>
        <h3>Add a rule</h3>
        <label>For
          <select name="for" @change=${(event: Event) => {
            this.isAgent = (event.target as HTMLSelectElement).value === 'agent';
          }}>
            <option value="agent">A person</option><option value=${everybody}>Everybody</option><option value=${signedIn}>All signed-in users</option>
          </select>
        </label>
        ${others}
        ${
          isContainer(this.at)
            ? html`<label>Applies to <select name="scope">${Object.entries(scopeNames).map(([scope, name]) => html`<option value=${scope}>${name}</option>`)}</select></label>`
            : nothing
        }
        <fieldset><legend>Can</legend>${model.modes.map((mode) => html`<label class="inline"><input type="checkbox" name="mode" value=${mode} ?checked=${mode === 'Read'}> ${mode}</label>`)}</fieldset>
        <button class="primary">Add</button>
      </form>
      ${this.at === storageUri ? nothing : html`<button type="button" class="danger" @click=${this.removeOwn}>Remove these rules</button> <span class="soft">Those of the folder above count again.</span>`}`;
  }

  private async toggle(row: model.AclRow, mode: model.AclMode, on: boolean): Promise<void> {
    const modes = model.modes.filter((each) => (each === mode ? on : row.modes.includes(each)));
    if (on && !(await mayBePublic(row.iri, `${mode.toLowerCase()} ${nameInText(this.at)}`)))
      return this.requestUpdate();
    return this.save(model.withRow(this.quads, this.at, { ...row, modes }));
  }

  private async add(event: SubmitEvent): Promise<void> {
    const { form, data } = submitted(event);
    await this.attempt(async () => {
      const chosen = String(data.get('for'));
      const [kind, iri] =
        chosen === 'agent' ? (['agent', personFrom(data)] as const) : (['agentClass', chosen] as const);
      const scope = (data.get('scope') ?? 'here') as model.Scope;
      const ticked = data.getAll('mode') as model.AclMode[];
      if (ticked.length === 0) throw new Error('Select at least one action.');
      if (!(await mayBePublic(iri, `${ticked.join(', ').toLowerCase()} ${nameInText(this.at)}`))) return;
      const before = model.tableOf(this.quads, this.at).rows.find((row) => row.iri === iri && row.scope === scope);
      const modes = model.modes.filter((mode) => ticked.includes(mode) || before?.modes.includes(mode));
      await this.save(model.withRow(this.quads, this.at, { kind, iri, scope, modes }));
      form.reset();
      this.isAgent = true;
      this.dispatchEvent(new Event('renamed', { bubbles: true }));
    });
  }

  /** True if the rules that can be evaluated here give the signed-in user control. */
  private controls(quads: readonly Quad[], of: string): boolean {
    return model.hasControl(quads, of, { subject: subjectNow(), inherited: of !== this.at });
  }

  /** Replaces the rules, with a warning if the signed-in user would lose control. */
  private async save(quads: Quad[]): Promise<void> {
    const { effective } = this;
    if (this.busy || !effective) return this.requestUpdate();
    const locksOut = this.controls(this.quads, this.at) && !this.controls(quads, this.at);
    if (locksOut && !(await mayLockOut())) return this.requestUpdate();
    this.busy = true;
    await this.attempt(() => this.replace(quads, effective.etag), 'The rules are saved.');
    this.busy = false;
    // Reads the rules again after an error, too: another user may have changed them.
    await this.readRules();
    await this.keepFocus();
  }

  private async replace(quads: readonly Quad[], etag: string): Promise<void> {
    try {
      await sendAclPut(this.at, await model.writeAcl(quads), etag);
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 412)) throw error;
      throw new Error('Another user changed these rules. The current rules are shown. Make your change again.');
    }
  }

  private async make(): Promise<void> {
    const { effective, at } = this;
    if (!effective) return;
    const quads = model.ownFrom(this.quads, effective.of, at);
    await this.attempt(async () => sendAclPut(at, await model.writeAcl(quads)), 'This item now has its own rules.');
    await this.readRules();
    await this.keepFocus();
  }

  private async removeOwn(): Promise<void> {
    const { effective, at } = this;
    if (!effective) return;
    let above: Awaited<ReturnType<typeof inheritedAcl>>;
    const isKnown = await this.attempt(async () => {
      above = await inheritedAcl(at);
    });
    if (!isKnown) return;
    const keeps = above !== undefined && this.controls(model.parseAcl(above.turtle, above.of), above.of);
    const sure = keeps
      ? await confirmed({
          title: 'Remove these rules?',
          text: 'The rules of the folder above apply again. Access given by these rules ends.',
          proceed: 'Remove',
        })
      : await mayLockOut();
    if (!sure) return;
    await this.attempt(() => sendAclDelete(at, effective.etag), 'The rules of the folder above apply again.');
    await this.readRules();
    await this.keepFocus();
  }
}

const mayLockOut = (): Promise<boolean> =>
  confirmed({
    title: 'Lock yourself out?',
    text: 'With these rules you no longer have Control here. Only other people with Control, or controllers of the whole storage, could change them back.',
    proceed: 'Lock myself out',
  });
