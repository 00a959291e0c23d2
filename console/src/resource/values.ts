/** Loads the table and style sheet for comma-separated values, which other previews do not need. */
import '../ask/table.js';
import { styles } from '../ask/styles.js';

await styles;
