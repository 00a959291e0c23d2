/** Whether this storage has shapes. Nothing else of them is loaded without. */
import { serviceEndpoint } from '../storage/api.js';

/** URL of the list of violations, or `undefined` if the storage does not advertise it. */
export const violationsEndpoint = (): Promise<string | undefined> => serviceEndpoint('ShapeViolationService');

/** Defines `<shape-actions>` if the storage has shapes. @returns true if it does */
export async function loadShapeActions(): Promise<boolean> {
  if ((await violationsEndpoint()) === undefined) return false;
  await import('./actions.js');
  return true;
}
