/** What clients and operators say of an import. */
import { LwsError } from '../../lib/component/basics.js';
import type { Rewrite } from '../../lib/component/level.js';
import type { Conflict, ImportState } from './import-state.js';

/** `OLD=NEW`. The first `=` that an absolute IRI follows divides them. @throws LwsError `bad-request` */
export function readRewrite(text: string): Rewrite {
  const at = text.search(/=[a-zA-Z][a-zA-Z0-9+.-]*:/);
  if (at <= 0)
    throw new LwsError(
      'bad-request',
      '"rewrite" is OLD=NEW, two beginnings of IRIs: https://old.example/=https://new.example/.',
    );
  return { from: text.slice(0, at), to: text.slice(at + 1) };
}

/** What is asked for, from the command line. */
export interface WantedImport {
  readonly source: string;
  readonly format: string | undefined;
  readonly into: string;
  readonly rewrite: ImportState['rewrite'];
  readonly conflict: Conflict;
  readonly dryRun: boolean;
  readonly grants: boolean;
  readonly acls: boolean;
  readonly resume: boolean;
}

/** Shows how far an import is. */
export type Show = (state: Pick<ImportState, 'bytes' | 'total' | 'quads' | 'created' | 'replaced' | 'began'>) => void;
