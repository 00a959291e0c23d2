/** Short messages at the edge of the page, read out by screen readers. */

export type Tone = 'good' | 'bad';

let region: HTMLElement | undefined;

/** Shows a sentence for some seconds; refusals stay until they are dismissed. */
export function notify(text: string, tone: Tone = 'good'): void {
  if (!region) {
    region = document.createElement('div');
    region.className = 'notices';
    region.setAttribute('role', 'status');
    document.body.append(region);
  }
  const notice = document.createElement('div');
  notice.className = `notice ${tone}`;
  const said = document.createElement('span');
  said.textContent = text;
  const close = document.createElement('button');
  close.type = 'button';
  close.textContent = 'Close';
  close.addEventListener('click', () => dismiss(notice));
  notice.append(said, close);
  region.append(notice);
  if (tone === 'good') setTimeout(() => dismiss(notice), 6000);
}

/** Takes a notice away; the focus goes to another one, or back to the page. */
function dismiss(notice: HTMLElement): void {
  const had = notice.contains(document.activeElement);
  const other = notice.nextElementSibling ?? notice.previousElementSibling;
  notice.remove();
  if (!had) return;
  const next = other?.querySelector('button') ?? document.getElementById('main');
  next?.focus({ preventScroll: true });
}
