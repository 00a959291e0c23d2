/** Rule 17.9: a report names every identity that gets access by an import, or the import is rejected. */
import { expect } from 'chai';
import type { ImportBlock, ReportEntry } from '../../../../components/data/transfer/blocks.js';
import { maxTold } from '../../../../components/data/transfer/blocks.js';
import { behind, type ImportState } from '../../../../components/data/transfer/import-state.js';
import { TransferError } from '../../../../lib/exchange/member.js';

const outcome = { verdicts: [], lost: [], access: [] };
const state = { access: [], told: [], leftOut: 0 } as unknown as ImportState;
const block = (access: readonly ReportEntry[]): ImportBlock =>
  ({ access, leftOut: [], items: [], states: [] }) as unknown as ImportBlock;
const told = (count: number, why: (at: number) => string): ReportEntry[] =>
  Array.from({ length: count }, (_, at) => ({ source: `s${at}`, why: why(at) }));

describe('transfer/access granted by an import', () => {
  it('reports another identity after any number of ACLs for the owner', () => {
    const first = behind({ ...state, acls: true }, block(told(maxTold + 1, () => 'owner: read.')), outcome);
    const { access } = behind(first, block([{ source: 'last', why: 'stranger: read.' }]), outcome);
    expect(access?.map(({ why }) => why))
      .to.include('stranger: read.')
      .and.to.include('owner: read.');
    expect(access?.length).to.be.at.most(maxTold);
  });

  it('is rejected if it is imported and cannot be reported completely, in one block and over several', () => {
    const many = told(maxTold + 1, (at) => `agent ${at}: read.`);
    for (const taken of [{ acls: true }, { grants: true }]) {
      expect(() => behind({ ...state, ...taken }, block(many), outcome)).to.throw(TransferError, /more than 500/);
      const first = behind({ ...state, ...taken }, block(many.slice(1)), outcome);
      expect(() => behind(first, block(many.slice(0, 1)), outcome)).to.throw(TransferError);
    }
    expect(behind(state, block(many), outcome).access).to.have.length(maxTold);
  });
});
