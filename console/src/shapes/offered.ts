/** Detects whether this storage has shapes. If not, no other module for shapes is loaded. */
import { serviceEndpoint } from '../storage/api.js';

/** Returns the URL of the list of violations, or `undefined` if the storage does not advertise it. */
export const violationsEndpoint = (): Promise<string | undefined> => serviceEndpoint('ShapeViolationService');

/** Defines `<shape-actions>` if the storage has shapes. @returns true if the storage has shapes */
export async function loadShapeActions(): Promise<boolean> {
  if ((await violationsEndpoint()) === undefined) return false;
  await import('./actions.js');
  return true;
}
