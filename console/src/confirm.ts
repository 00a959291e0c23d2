/** A question that has to be answered before something that cannot be taken back. */

export interface Question {
  readonly title: string;
  readonly text: string;
  /** What the button that continues says. */
  readonly proceed: string;
}

let count = 0;

/** Asks in a dialog. @returns whether to continue; closing the dialog means no */
export function confirmed({ title, text, proceed }: Question): Promise<boolean> {
  const dialog = document.createElement('dialog');
  const heading = document.createElement('h2');
  heading.textContent = title;
  heading.id = `confirm-${++count}`;
  dialog.setAttribute('aria-labelledby', heading.id);
  const said = document.createElement('p');
  said.textContent = text;
  const row = document.createElement('div');
  row.className = 'row';
  const button = (label: string, answer: string): HTMLButtonElement => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = label;
    made.addEventListener('click', () => dialog.close(answer));
    return made;
  };
  const yes = button(proceed, 'yes');
  yes.className = 'danger';
  row.append(button('Cancel', ''), yes);
  dialog.append(heading, said, row);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}
