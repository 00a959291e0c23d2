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
  close.addEventListener('click', () => notice.remove());
  notice.append(said, close);
  region.append(notice);
  if (tone === 'good') setTimeout(() => notice.remove(), 6000);
}
