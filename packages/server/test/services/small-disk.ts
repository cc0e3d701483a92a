import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unprivilegedUser } from './postgres.ts'

/** A separate file system that a test can fill. The user who runs PostgreSQL owns it. */
export interface SmallDisk {
  path: string
  /** Fills the file system to the last byte. */
  fill(): void
  makeRoom(): void
  dispose(): void
}

/** Returns null if this user may not mount file systems. */
export function mountSmallDisk(mebibytes: number): SmallDisk | null {
  const dir = mkdtempSync(join(tmpdir(), 'skerry-disk-'))
  const { uid = process.getuid?.(), gid = process.getgid?.() } = unprivilegedUser()
  const options = `size=${mebibytes}m,mode=700,uid=${uid},gid=${gid}`
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'skerry-test', dir], { stdio: 'ignore' })
  } catch {
    rmSync(dir, { recursive: true })
    return null
  }
  const ballast = join(dir, 'ballast')
  return {
    path: dir,
    fill() {
      const file = openSync(ballast, 'w')
      try {
        for (const block = Buffer.alloc(4096); ; ) writeSync(file, block)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    makeRoom: () => rmSync(ballast),
    dispose() {
      execFileSync('umount', [dir])
      rmSync(dir, { recursive: true })
    },
  }
}
