/** Access modes (rule 2.1). */
export type Mode = 'read' | 'append' | 'write' | 'delete' | 'control';
