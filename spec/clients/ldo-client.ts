/** LDO (Linked Data Objects): resources, access and notifications. */
import { createSolidLdoDataset, type SolidContainer, type SolidLeaf } from '@ldo/connected-solid';
import { DataFactory, Store } from 'n3';
import { type Journey, must, mustFail } from './journey.js';

const { namedNode, literal, quad } = DataFactory;
const name = namedNode('http://xmlns.com/foaf/0.1/name');
const saying = (document: string, text: string) =>
  new Store([quad(namedNode(`${document}#me`), name, literal(text), namedNode(document))]) as never;

/** Throws the error of a result, because LDO returns errors as values. */
async function done<T extends { readonly isError: boolean }>(work: Promise<T>): Promise<T> {
  const result = await work;
  if (result.isError)
    throw new Error(`${(result as { type?: string }).type}: ${(result as { message?: string }).message}`);
  return result;
}

const opened = (fetch: typeof globalThis.fetch) => {
  const dataset = createSolidLdoDataset();
  dataset.setContext('solid', { fetch });
  const leaf = (iri: string): SolidLeaf => dataset.getResource(iri as never) as SolidLeaf;
  return { dataset, leaf, container: (iri: string): SolidContainer => dataset.getResource(iri as never) as never };
};

const nothing = { read: false, append: false, write: false, control: false };
const everything = { read: true, append: true, write: true, control: true };

export const ldo: Journey = {
  async create({ container, fetch, unauthorized }) {
    const { leaf, container: containerOf } = opened(fetch);
    await done(containerOf(container).createIfAbsent());
    const ada = leaf(`${container}ada.ttl`);
    await done(ada.createIfAbsent());
    await done(ada.update({ added: saying(ada.uri, 'Ada') }));
    await done(leaf(`${container}photo.png`).uploadIfAbsent(new Blob(['x'], { type: 'image/png' }), 'image/png'));
    // In a container that does not exist yet.
    await done(leaf(`${container}deep/bob.ttl`).update({ added: saying(`${container}deep/bob.ttl`, 'Bob') }));
    await mustFail(
      done(opened(unauthorized).leaf(`${container}theirs.ttl`).createIfAbsent()),
      'a creation by another agent',
    );
  },
  async read({ root, container, fetch, unauthorized }) {
    const { dataset, leaf } = opened(fetch);
    const ada = leaf(`${container}ada.ttl`);
    await done(ada.read());
    must(dataset.match(null, name, literal('Ada')).size === 1, 'the name is read');
    const top = await ada.getRootContainer();
    must(!top.isError && (top as SolidContainer).uri === root, 'the storage is found');
    await done(leaf(`${container}absent.ttl`).read());
    must(leaf(`${container}absent.ttl`).isAbsent() === true, 'the absent resource is known to be absent');
    await mustFail(done(opened(unauthorized).leaf(ada.uri).read()), 'a read by another agent');
  },
  async list({ container, fetch }) {
    const all = opened(fetch).container(container);
    await done(all.read());
    const members = all.children().map(({ uri }) => uri.slice(container.length));
    must(members.sort().join() === 'ada.ttl,deep/,photo.png', `the members are listed: ${members}`);
  },
  async change({ container, fetch, unauthorized }) {
    const ada = opened(fetch).leaf(`${container}ada.ttl`);
    await done(ada.read());
    await done(ada.update({ removed: saying(ada.uri, 'Ada'), added: saying(ada.uri, 'Countess') }));
    must((await (await fetch(ada.uri)).text()).includes('Countess'), 'the change is stored');
    const theirs = opened(unauthorized)
      .leaf(ada.uri)
      .update({ added: saying(ada.uri, 'Eve') });
    await mustFail(done(theirs), 'a change by another agent');
  },
  async share({ container, owner, fetch, unauthorized }) {
    const ada = opened(fetch).leaf(`${container}ada.ttl`);
    const read = () => done(opened(unauthorized).leaf(ada.uri).read());
    const share = (open: object) =>
      done(ada.setWac({ agent: { [owner]: everything }, public: { ...nothing, ...open }, authenticated: nothing }));
    await share({ read: true });
    await read();
    // Once more, with an existing list.
    await share({});
    await mustFail(read(), 'a read after access was revoked');
    const { wacRule } = (await done(ada.getWac({ ignoreCache: true }))) as { wacRule?: { agent: object } };
    must(Object.keys(wacRule?.agent ?? {}).join() === owner, 'the list is read back');
    const theirs = opened(unauthorized)
      .leaf(ada.uri)
      .setWac({ agent: {}, public: everything, authenticated: everything });
    await mustFail(done(theirs), 'a change of the list by another agent');
  },
  async subscribe({ container, fetch }) {
    const ada = opened(fetch).leaf(`${container}ada.ttl`);
    await done(ada.read());
    const heard = new Promise<void>((resolve, reject) => {
      const onNotificationError = (error: Error): void => reject(error);
      void ada.subscribeToNotifications({ onNotification: () => resolve(), onNotificationError }).catch(reject);
    });
    // The socket may open after the response to the subscription, so write repeatedly.
    let isOver = false;
    const writing = (async () => {
      for (let time = 0; !isOver && time < 40; time++) {
        await done(
          opened(fetch)
            .leaf(ada.uri)
            .update({ added: saying(ada.uri, `heard ${time}`) }),
        );
        await new Promise((again) => setTimeout(again, 250));
      }
      must(isOver, 'a notification arrives');
    })();
    await Promise.race([heard, writing]);
    isOver = true;
    await writing;
    await ada.unsubscribeFromAllNotifications();
  },
  /** LDO expects 205 for a successful deletion, the server returns 204 (rule 6.19). */
  async 'delete (reported as an error)'({ container, fetch, unauthorized }) {
    await mustFail(done(opened(unauthorized).leaf(`${container}ada.ttl`).delete()), 'a deletion by another agent');
    must((await fetch(`${container}ada.ttl`)).status === 200, 'the document still exists');
    const { message } = (await opened(fetch).leaf(`${container}ada.ttl`).delete()) as { message?: string };
    must(/returned 204/.test(message ?? ''), `its report: ${message}`);
    must((await fetch(`${container}ada.ttl`)).status === 404, 'the document is deleted');
  },
};
