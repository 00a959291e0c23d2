/** Requests and grants as they are kept: entries of the store, of one space each. It must not know who may see them. */
import { type ForeignState, LwsError } from '../../lib/component/basics.js';
import { entryKey } from '../../lib/component/entries.js';
import { isObject, isTime } from '../../lib/component/fields.js';
import { type AccessDocument, acceptDocument, type DocumentType, policiesOf } from './access-documents.js';

export interface KeptDocument {
  readonly document: AccessDocument;
  readonly creator: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** A digest of the address it came from; absent for those of earlier versions. */
  readonly from?: string;
  /** A controller has looked at it, or answered it. */
  readonly isSeen?: true;
}

export type Space = 'access-requests' | 'access-grants';

export const keyOf = (space: Space, name: string): string => entryKey(space, name);
export const readKept = (value: string): KeptDocument => JSON.parse(value) as KeptDocument;

export const bytesOfKept = ({ document }: KeptDocument): Buffer => Buffer.from(JSON.stringify(document));

/** What a value from elsewhere would be here; `undefined` where it cannot be kept. @param here the IRI and the storage it would have */
export function foreignDocument(
  value: unknown,
  type: DocumentType,
  { id, storage }: { readonly id: string; readonly storage: string },
): ForeignState | undefined {
  const { document: given, created } = isObject(value) ? value : {};
  if (!isObject(given) || !isTime(created)) return undefined;
  try {
    const document = acceptDocument({ ...given, storage }, type, id, storage);
    const policies = policiesOf(document, storage);
    return {
      targets: policies.flatMap(({ targets }) => targets),
      gives: policies.flatMap(({ assignees, actions }) =>
        assignees.map((assignee) => `${assignee}: ${type} of ${actions.join(', ')}.`),
      ),
      // A controller imports, who has seen them: they wait for nobody.
      keptBy: (creator): KeptDocument => ({ document, creator, created, isSeen: true }),
    };
  } catch (error) {
    if (error instanceof LwsError) return undefined;
    throw error;
  }
}
