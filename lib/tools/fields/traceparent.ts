/** `traceparent` field (W3C Trace Context, Level 1). */

export interface Trace {
  readonly traceId: string;
  /** Span ID of this server. */
  readonly spanId: string;
  /** Span ID of the caller. */
  readonly parentId: string;
  /** Trace flags: two hexadecimal digits. */
  readonly flags: string;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Parses the field. Returns undefined if it is malformed; it is then ignored (section 3.2.2.3).
 * @param spanId 16 hexadecimal digits for this server's span
 */
export function readTraceparent(field: string | undefined, spanId: string): Trace | undefined {
  const parts = field === undefined || field.length > 512 ? null : form.exec(field);
  if (!parts) return undefined;
  const [, version, traceId, parentId, flags, more] = parts as unknown as [
    string,
    string,
    string,
    string,
    string,
    string?,
  ];
  if (version === 'ff' || (version === '00' && more !== undefined) || /^0+$/.test(traceId) || /^0+$/.test(parentId))
    return undefined;
  return { traceId, spanId, parentId, flags };
}

/** Formats the field for an outbound request that this request causes. */
export const formatTraceparent = ({ traceId, spanId, flags }: Trace): string => `00-${traceId}-${spanId}-${flags}`;
