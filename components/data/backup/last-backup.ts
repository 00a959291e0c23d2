/** File in the data directory with the time of the last backup. Not in the database: it would differ from the one in the backup. */
export const lastBackupName = 'last-backup';
