/** Types of the interface between this component and the store. */
import type { JoinServers } from '../../lib/plugin/coordination.js';

export type DatabaseAddress = Parameters<JoinServers>[0];
export type JoinOptions = Parameters<JoinServers>[1];
export type Coordination = Awaited<ReturnType<JoinServers>>;
export type CommitQueue = Parameters<NonNullable<Coordination['order']>>[0];
export type Replica = JoinOptions['replica'];
export type JournalPlace = Replica['place'];
