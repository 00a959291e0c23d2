/** The field `traceparent` (W3C Trace Context, Level 1). Pure. */

export interface Trace {
  readonly traceId: string;
  /** Of this server's part of the trace. */
  readonly spanId: string;
  /** Of the part that asked. */
  readonly parentId: string;
  /** Two hexadecimal digits. */
  readonly flags: string;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads the field.
 * @param spanId 16 hexadecimal digits for this server's part
 * @returns undefined for a field that is malformed, which is ignored (section 3.2.2.3)
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

/** For a request that this one causes. */
export const formatTraceparent = ({ traceId, spanId, flags }: Trace): string => `00-${traceId}-${spanId}-${flags}`;
