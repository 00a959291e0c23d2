/** Name of the file with the time of the last backup. The database of a backup is older, so the time is not stored there. */
export const lastBackupName = 'last-backup';
