/** Style sheet of queries and results, which other pages do not need. */
import { styleSheet } from '../frame/style-sheet.js';

export const styles = styleSheet('ask');
