/** The modes of access (open-points 1.1). */
export type Mode = 'read' | 'append' | 'write' | 'delete' | 'control';
