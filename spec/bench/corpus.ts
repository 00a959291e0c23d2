/** Storage with many typed resources for benchmarks, written in large transactions without HTTP. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { indexChanges } from '../../components/search/type-index/indexer.js';
import { currentState, stateKey } from '../../components/search/type-index/postings.js';
import { ensureRoot } from '../../lib/resources/storage-root.js';
import { stageNew } from '../../lib/resources/write.js';
import { openStore } from '../../lib/server/storage/open-store.js';
import { ownerAuthorizer, specStorage } from '../support/storage.js';

export interface CorpusOptions {
  readonly root: string;
  readonly resources: number;
  readonly types: number;
  /** Owner of every nth resource. The rest have another owner. */
  readonly sparseOwner: string;
  readonly everyNth: number;
  /** Content of a resource as Turtle. Default: its types and seven more triples. */
  readonly turtle?: (number: number) => string;
}

export const typeIri = (number: number): string => `http://example.org/types#T${number}`;

/** Writes the corpus to a new data directory and returns its path. Each resource has three types and seven more triples. */
export async function writeCorpus({
  root,
  resources,
  types,
  sparseOwner,
  everyNth,
  ...options
}: CorpusOptions): Promise<string> {
  const turtle = options.turtle ?? ((number: number) => turtleOf(number, types));
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-corpus-'));
  const store = await openStore(folder, root, { onTrouble: (message) => process.stderr.write(`${message}\n`) });
  store.onTransaction(indexChanges);
  await ensureRoot(store, root, Date.now());
  await store.transact((tx) => tx.putEntry(stateKey, currentState));
  const authorizer = ownerAuthorizer({ owners: ['urn:example:owner'], publicRead: false, open: false });
  const memory = { store } as never;
  const { storage: base, dispose } = await specStorage({ memory, authorizer });
  const storage = { ...base, rootIri: root, store };
  for (let at = 0; at < resources; at += 250) {
    const slice = Array.from({ length: Math.min(250, resources - at) }, (_, i) => at + i);
    const documents = await Promise.all(
      slice.map((number) => storage.documents.parse(Buffer.from(turtle(number)), 'text/turtle', iriOf(root, number))),
    );
    await store.transact((tx) => {
      slice.forEach((number, index) => {
        const subject = number % everyNth === 0 ? sparseOwner : 'urn:example:owner';
        const request = {
          iri: iriOf(root, number),
          access: { principal: { subject } },
          preconditions: {},
          model: undefined,
        };
        const content = { kind: 'rdf', document: documents[index]! } as const;
        stageNew(storage, tx, request, content);
      });
    });
    if (at % 10_000 === 0) process.stderr.write(`\r${at} resources written`);
  }
  process.stderr.write('\n');
  await dispose().catch(() => {});
  await store.close();
  return folder;
}

const iriOf = (root: string, number: number): string =>
  `${root}r${String((number * 7919) % 1_000_003).padStart(7, '0')}`;

function turtleOf(number: number, types: number): string {
  const own = [number % types, Math.floor(number / types) % types, Math.floor(number * 0.618) % types];
  const list = [...new Set(own)].map((type) => `<${typeIri(type)}>`).join(', ');
  const rest = Array.from({ length: 7 }, (_, i) => `<http://example.org/p${i}> "value ${i} of ${number}"`).join(' ; ');
  return `<> a ${list} ; ${rest} .`;
}
