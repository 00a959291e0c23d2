import { TransferError } from './member.js';

/** What a string says is wrong, at the line which the message names. All that came before it is whole. */
export class SyntaxFault extends TransferError {}
