/** Formats of the standard components, as import and export open them. */

import { Formats, type Source } from '../../components/data/transfer/formats/index.js';
import { openWriter as openFormatWriter, type WrittenTo } from '../../components/data/transfer/formats/open-writer.js';
import transfer from '../../components/data/transfer/index.js';
import formats from '../../components/formats/index.js';
import type { MemberReader, Writer } from '../../lib/exchange/member.js';

export type { Source } from '../../components/data/transfer/formats/index.js';

export const formatModules: readonly string[] = [transfer, formats].map(
  (component) => component.formats!({} as never)!,
);
const all = await Formats.of(formatModules);

export const openReader = (source: Source, format?: string): Promise<MemberReader> => all.openReader(source, format);
export const openWriter = (format: string, target: WrittenTo, options: { of: string }): Promise<Writer> =>
  openFormatWriter(all, target, { ...options, format });
export const detectFormat = (source: Source): Promise<string> => all.detect(source);

/** Returns syntax and compression of a dump by its file name. */
export const dumpKind = (name: string): { isTriG: boolean; isGzip: boolean } => ({
  isTriG: all.textFormatOf(name) === 'trig',
  isGzip: /\.gz$/i.test(name),
});
