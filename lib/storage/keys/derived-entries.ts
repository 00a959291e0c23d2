/** Entries that are built from resources, such as those of search indexes. A restore at another address builds them again. */

const kinds: ((key: string) => boolean)[] = [];

/** Declares entries that are derived from resources. @param isDerived true for the keys of such entries */
export const declareDerivedEntries = (isDerived: (key: string) => boolean): void => void kinds.push(isDerived);

/** Returns true if a component declared the entry of a key as derived. */
export const isDerivedEntry = (key: string): boolean => kinds.some((isDerived) => isDerived(key));
