/** Loads the style sheet of forms, which other pages do not need. */
import { styleSheet } from '../frame/style-sheet.js';

export const formStyles = styleSheet('forms');
