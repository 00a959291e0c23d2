/** Activity of the storage: the last day, then live from the event stream while the page is shown. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { headingOf, openHref, Page, placeHref, scrollTable } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { nameOfPerson } from '../sharing/people.js';
import { messageOf, refusalFrom, request, systemUrl } from '../storage/api.js';
import { compact, iriName } from '../storage/labels.js';

interface Activity {
  readonly position: number;
  readonly type: readonly string[];
  readonly object: { readonly id: string };
  readonly published: string;
  readonly actor?: string;
}

/** Maximum number of events shown. */
const most = 500;
const dayMs = 86_400_000;

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });
const times = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const dayOf = ({ published }: Activity): string => new Date(published).toDateString();

const systemPrefix = `${storageUri}.lws/`;
const isNewRequest = ({ type, object }: Activity): boolean =>
  type.includes('Create') && object.id.startsWith(`${systemPrefix}access-requests/`);

type Following = 'connecting' | 'following' | 'ended';

@customElement('admin-activity')
export class AdminActivity extends Page {
  @state() private events: readonly Activity[] = [];
  /** Events received while the list is paused. */
  @state() private held: readonly Activity[] | undefined;
  @state() private following: Following = 'connecting';
  /** Events received since the last frame, oldest first. They are rendered together: each rendering takes milliseconds. */
  private arrived: Activity[] = [];
  private stop: AbortController | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stop?.abort();
  }

  protected override async load(): Promise<void> {
    const stop = new AbortController();
    this.stop = stop;
    this.following = 'connecting';
    this.failure = '';
    try {
      const ask = async (query: string): Promise<Response> =>
        request('GET', await systemUrl(`events${query}`), { signal: stop.signal });
      const past = await ask(`?since=${new Date(Date.now() - dayMs).toISOString()}&newest=${most}`);
      // Status 410: the log of the server does not reach back a day.
      const response = past.status === 410 ? await ask('') : past;
      this.events = [];
      this.arrived = [];
      if (!response.ok || !response.body) throw await refusalFrom(response);
      this.following = 'following';
      for await (const line of linesOf(response.body)) this.take(JSON.parse(line) as Activity);
      this.following = 'ended';
    } catch (error) {
      if (stop.signal.aborted) return;
      this.failure = messageOf(error);
      this.following = 'ended';
    }
  }

  private take(activity: Activity): void {
    // Omit events in the trash, which has its own page: one deletion moves many resources into the trash.
    const { id } = activity.object;
    if (id.startsWith(`${storageUri}.trash/`)) return;
    if (id.startsWith(systemPrefix) && !isNewRequest(activity)) return;
    if (this.arrived.length === 0) requestAnimationFrame(() => this.show());
    this.arrived.push(activity);
    // Limit the events here, because a hidden tab renders no frames.
    if (this.arrived.length > 2 * most) this.arrived = this.arrived.slice(-most);
  }

  private show(): void {
    const newest = this.arrived.reverse();
    this.arrived = [];
    if (this.held) this.held = [...newest, ...this.held].slice(0, most);
    else this.events = [...newest, ...this.events].slice(0, most);
  }

  private toggle(): void {
    if (this.held) {
      this.events = [...this.held, ...this.events].slice(0, most);
      this.held = undefined;
    } else this.held = [];
  }

  protected override render(): TemplateResult {
    return html`
      <h2 class="visually-hidden">Changes</h2>
      <div class="row between">
        <span role="status" class="soft">${this.said()}</span>
        ${
          this.following === 'ended'
            ? html`<button type="button" @click=${this.load}>Resume</button>`
            : html`<button type="button" aria-pressed=${this.held !== undefined} @click=${this.toggle}>${this.held ? 'Continue' : 'Pause'}</button>`
        }
      </div>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : ''}
      ${this.events.length === 0 ? html`<p class="empty">No changes in the last day. New changes appear here.</p>` : this.renderEvents()}`;
  }

  private said(): string {
    if (this.following === 'connecting') return 'Connecting …';
    if (this.following === 'ended') return 'The stream has ended.';
    return this.held
      ? `Paused. ${this.held.length} more events.`
      : 'The last day, newest first. New changes appear by themselves.';
  }

  private renderEvents(): TemplateResult {
    // The server leaves actors out unless lws.notifications.include-actor is set.
    const hasActors = this.events.some(({ actor }) => actor);
    const heads = ['When', 'What', ...(hasActors ? ['Who'] : [])];
    const groups = groupsOf(this.events);
    const day = (at: number): TemplateResult | typeof nothing => {
      const [[event], before] = [groups[at]!, groups[at - 1]?.[0]];
      if (before && dayOf(before) === dayOf(event)) return nothing;
      return html`<tr class="day"><th scope="rowgroup" colspan=${heads.length}>${days.format(new Date(event.published))}</th></tr>`;
    };
    return scrollTable(
      'What happened',
      heads,
      repeat(
        groups,
        (group) => group.at(-1)!.position,
        (group, at) => html`${day(at)}<tr>
          <td class="soft">${times.format(new Date(group[0].published))}</td>
          <td>${isNewRequest(group[0]) ? html`New access request: <a href=${placeHref('requests')}>Requests</a>` : sentenceOf(group)}</td>
          ${hasActors ? html`<td>${group[0].actor ? html`<span title=${group[0].actor}>${nameOfPerson(group[0].actor)}</span>` : html`<span class="soft">not recorded</span>`}</td>` : nothing}
        </tr>`,
      ),
    );
  }
}

/** Events of one kind by one user, newest first. */
type Group = readonly [Activity, ...Activity[]];

/** Maximum time between two events of a group, in milliseconds. */
const gapMs = 60_000;
/** Minimum count of events in a group. Fewer events are listed one by one. */
const minGroup = 3;

/** Groups successive events of the same kind by the same user. */
function groupsOf(events: readonly Activity[]): readonly Group[] {
  const isNext = (one: Activity, other: Activity): boolean =>
    one.actor === other.actor &&
    one.type.join() === other.type.join() &&
    !isNewRequest(one) &&
    !isNewRequest(other) &&
    dayOf(one) === dayOf(other) &&
    Date.parse(one.published) - Date.parse(other.published) <= gapMs;
  const found: [Activity, ...Activity[]][] = [];
  for (const event of events) {
    const last = found.at(-1);
    if (last && isNext(last.at(-1)!, event)) last.push(event);
    else found.push([event]);
  }
  return found.flatMap((group): readonly Group[] => (group.length < minGroup ? group.map((each) => [each]) : [group]));
}

const deeds: Readonly<Record<string, string>> = { Create: 'Created', Update: 'Changed', Delete: 'Deleted' };

/** Returns a sentence such as `Created stations.ttl and 17 more items`. */
function sentenceOf([event, ...others]: Group): TemplateResult {
  const deed = event.type.map((each) => deeds[each] ?? each).join(', ');
  if (others.length === 0) return html`${deed} ${linkOf(event)} ${checkOf(event)}`;
  return html`${deed} ${linkOf(event)}
    <details><summary>and ${others.length} more items</summary><ul class="plain">${others.map((each) => html`<li>${linkOf(each)} ${checkOf(each)}</li>`)}</ul></details> ${checkOf(event)}`;
}

const linkOf = ({ object: { id: iri } }: Activity): TemplateResult =>
  html`<a href=${openHref(iri)}>${iri === storageUri ? headingOf(iri) : iriName(iri, compact(iri))}</a>`;

/** Returns a link that explains the access of the user who made the change. */
const checkOf = ({ object: { id: iri }, actor: as = '' }: Activity): TemplateResult =>
  html`<a class="check" href=${placeHref('admin', { tab: 'explain', iri, as })} aria-label=${`Check access to ${iri}`}>Check access</a>`;

/** Yields the lines of a response body as they arrive, without empty lines. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line.trim() !== '');
  }
}
