/** File in the data directory with the time of the last backup. Not in the database, of which the backup has an older state. */
export const lastBackupName = 'last-backup';
