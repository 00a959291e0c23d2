/** File system of a few megabytes, mounted for a spec, that can be filled. It must not know its contents. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MiB = 1 << 20;

export class SmallDisk {
  readonly folder = mkdtempSync(join(tmpdir(), 'quadpod-disk-'));
  private readonly filler = join(this.folder, 'filler');
  private mounted = false;

  /** Mounts one, or returns undefined without permission. @param options of the tmpfs, such as `size=64m` */
  static mount(options: string): SmallDisk | undefined {
    const disk = new SmallDisk();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk.folder], { stdio: 'ignore' });
    } catch {
      rmdirSync(disk.folder);
      return undefined;
    }
    disk.mounted = true;
    process.once('exit', () => disk.unmount());
    return disk;
  }

  remount(options: string): void {
    execFileSync('mount', ['-o', `remount,${options}`, this.folder], { stdio: 'ignore' });
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return bavail * bsize;
  }

  /** Fills it with a file until less than the given number of bytes is free. 0: completely. */
  fill(free: number): void {
    const file = openSync(this.filler, 'a');
    const zeros = Buffer.alloc(MiB);
    try {
      while (this.freeBytes > free) {
        const wanted = Math.min(MiB, this.freeBytes - free);
        writeSync(file, zeros, 0, Math.max(wanted, 1));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Creates empty files until the inodes are exhausted. */
  fillInodes(): void {
    try {
      for (let i = 0; ; i++) writeFileSync(`${this.filler}-${i}`, '');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  free(): void {
    rmSync(this.filler, { force: true });
  }

  unmount(): void {
    if (!this.mounted) return;
    this.mounted = false;
    execFileSync('umount', ['-l', this.folder], { stdio: 'ignore' });
    rmdirSync(this.folder);
  }
}
