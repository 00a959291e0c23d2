/** `@inrupt/solid-client`: documents, files, containers and Web Access Control. */
import * as solid from '@inrupt/solid-client';
import { type Journey, must, mustFail } from './journey.js';

const name = 'http://xmlns.com/foaf/0.1/name';
const alice = 'https://people.example/alice';

export const solidClient: Journey = {
  async create({ container, fetch, unauthorized }) {
    await solid.createContainerAt(container, { fetch });
    const thing = solid
      .buildThing({ url: `${container}ada#me` })
      .addStringNoLocale(name, 'Ada')
      .build();
    await solid.saveSolidDatasetAt(`${container}ada`, solid.setThing(solid.createSolidDataset(), thing), { fetch });
    await solid.overwriteFile(`${container}note.txt`, new Blob(['hello'], { type: 'text/plain' }), { fetch });
    const other = solid.setThing(solid.createSolidDataset(), thing);
    await mustFail(
      solid.saveSolidDatasetAt(`${container}theirs`, other, { fetch: unauthorized }),
      'a creation by another agent',
    );
  },
  async read({ container, fetch, unauthorized }) {
    const data = await solid.getSolidDataset(`${container}ada`, { fetch });
    must(solid.getStringNoLocale(solid.getThing(data, `${container}ada#me`)!, name) === 'Ada', 'the name is read');
    const file = await solid.getFile(`${container}note.txt`, { fetch });
    must((await file.text()) === 'hello', 'the file is read');
    await mustFail(solid.getSolidDataset(`${container}ada`, { fetch: unauthorized }), 'a read by another agent');
  },
  async list({ container, fetch }) {
    const urls = solid.getContainedResourceUrlAll(await solid.getSolidDataset(container, { fetch })).sort();
    must(
      JSON.stringify(urls) === JSON.stringify([`${container}ada`, `${container}note.txt`]),
      `both are listed: ${urls}`,
    );
  },
  async change({ container, fetch }) {
    const [first, second] = [
      await solid.getSolidDataset(`${container}ada`, { fetch }),
      await solid.getSolidDataset(`${container}ada`, { fetch }),
    ];
    const named = (data: typeof first, text: string) =>
      solid.setThing(data, solid.setStringNoLocale(solid.getThing(data, `${container}ada#me`)!, name, text));
    await solid.saveSolidDatasetAt(`${container}ada`, named(first, 'Ada Lovelace'), { fetch });
    // The second dataset was read before the first save, so its deletion of the old name has no effect.
    await solid.saveSolidDatasetAt(`${container}ada`, named(second, 'Countess'), { fetch });
    const now = await solid.getSolidDataset(`${container}ada`, { fetch });
    const names = solid.getStringNoLocaleAll(solid.getThing(now, `${container}ada#me`)!, name).sort();
    must(JSON.stringify(names) === '["Ada Lovelace","Countess"]', `both changes are stored: ${names}`);
  },
  async share({ container, fetch, unauthorized }) {
    const url = `${container}ada`;
    const readable = async (): Promise<boolean> =>
      solid.getSolidDataset(url, { fetch: unauthorized }).then(
        () => true,
        () => false,
      );
    await solid.universalAccess.setPublicAccess(url, { read: true }, { fetch });
    must(await readable(), 'another agent reads a public document');
    await solid.universalAccess.setAgentAccess(url, alice, { read: true, append: true }, { fetch });
    const access = await solid.universalAccess.getAgentAccess(url, alice, { fetch });
    must(access?.read === true && access.append === true && !access.write, 'the access of an agent is returned');
    await solid.universalAccess.setPublicAccess(url, { read: false }, { fetch });
    must(!(await readable()), 'public access is revoked');
    const file = await solid.getFileWithAcl(`${container}note.txt`, { fetch });
    if (!solid.hasAccessibleAcl(file) || !solid.hasFallbackAcl(file))
      throw new Error('no access control list to start from');
    const list = solid.setPublicResourceAccess(solid.createAclFromFallbackAcl(file), {
      ...{ read: true, append: false, write: false, control: false },
    });
    await solid.saveAclFor(file, list, { fetch });
    must(
      (await (await solid.getFile(`${container}note.txt`, { fetch: unauthorized })).text()) === 'hello',
      'saveAclFor takes effect',
    );
  },
  async delete({ container, fetch, unauthorized }) {
    await mustFail(solid.deleteFile(`${container}note.txt`, { fetch: unauthorized }), 'a deletion by another agent');
    await mustFail(solid.deleteContainer(container, { fetch }), 'the deletion of a container that is not empty');
    for (const each of ['note.txt', 'ada']) await solid.deleteFile(container + each, { fetch });
    await solid.deleteContainer(container, { fetch });
    await mustFail(solid.getSolidDataset(container, { fetch }), 'a read after deletion');
  },
};
