/** A data module of Solid: address books, by rdflib.js. */
import ContactsModule from '@solid-data-modules/contacts-rdflib';
import { graph, UpdateManager, Fetcher as WebFetcher } from 'rdflib';
import { type Journey, must, mustFail } from './journey.js';

function open(fetch: typeof globalThis.fetch) {
  const store = graph();
  const fetcher = new WebFetcher(store, { fetch: fetch as never });
  return {
    store,
    fetcher,
    contacts: new ContactsModule({ store, fetcher, updater: new UpdateManager(store) } as never),
  };
}

/** Where its books, contacts and groups are, by container. */
const places = new Map<string, { book: string; ada: string; group: string }>();

export const contactsModule: Journey = {
  async create({ container, fetch }) {
    const { contacts } = open(fetch);
    const book = await contacts.createAddressBook({ containerUri: container, name: 'Friends' });
    const ada = await contacts.createNewContact({
      addressBookUri: book,
      contact: { name: 'Ada', email: 'ada@example.org', phoneNumber: '+4911' },
    });
    const group = await contacts.createNewGroup({ addressBookUri: book, groupName: 'Science' });
    places.set(container, { book, ada, group });
  },
  async read({ container, fetch, strangers }) {
    const { book, ada } = places.get(container)!;
    const { name, emails, phoneNumbers } = await open(fetch).contacts.readContact(ada);
    must(name === 'Ada' && emails[0]?.value === 'ada@example.org' && phoneNumbers.length === 1, 'the contact is read');
    await mustFail(open(strangers).contacts.readAddressBook(book), 'what a stranger reads');
  },
  async list({ container, fetch }) {
    const { book } = places.get(container)!;
    const { title, contacts, groups } = await open(fetch).contacts.readAddressBook(book);
    must(title === 'Friends' && contacts.length === 1 && groups.length === 1, 'the book is listed');
  },
  async change({ container, fetch, strangers }) {
    const { ada, group } = places.get(container)!;
    const { contacts } = open(fetch);
    await contacts.addContactToGroup({ contactUri: ada, groupUri: group });
    await contacts.renameContact({ contactUri: ada, newName: 'Countess' });
    const phone = await contacts.addNewPhoneNumber({ contactUri: ada, newPhoneNumber: '+4922' });
    await contacts.updatePhoneNumber({ phoneNumberUri: phone, newPhoneNumber: '+4933' });
    await contacts.removePhoneNumber({ contactUri: ada, phoneNumberUri: phone });
    const mail = await contacts.addNewEmailAddress({ contactUri: ada, newEmailAddress: 'countess@example.org' });
    await contacts.removeEmailAddress({ contactUri: ada, emailAddressUri: mail });
    const again = open(fetch).contacts;
    must((await again.readContact(ada)).name === 'Countess', 'the change is there');
    must((await again.readGroup(group)).members.length === 1, 'the member is there');
    await contacts.removeContactFromGroup({ contactUri: ada, groupUri: group });
    must((await open(fetch).contacts.readGroup(group)).members.length === 0, 'the member is gone');
    const theirs = open(strangers).contacts.renameContact({ contactUri: ada, newName: 'Eve' });
    await mustFail(theirs, 'what a stranger changes');
  },
  async delete({ container, fetch, strangers }) {
    // It has no call for it: applications delete by its fetcher.
    const { book } = places.get(container)!;
    const document = book.replace(/#.*/, '');
    await mustFail(open(strangers).fetcher.delete(document), 'what a stranger deletes');
    await open(fetch).fetcher.delete(document);
    must((await fetch(document)).status === 404, 'the book is gone');
  },
};
