import { existsSync, readdirSync, statfsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'

const memoryDisk = '/dev/shm'
/** A run has three or four databases of some 25 MB at a time, and a PostgreSQL. */
const roomBytes = 3 * 1024 ** 3

/**
 * The folder for databases that a test throws away: in memory where there is room, because creating the 900 files of one
 * takes a second on a disk and 50 ms in memory. A test about durability makes its own folder on the disk.
 */
export const scratchRoot = (): string => (hasMemoryDisk() ? memoryDisk : tmpdir())

function hasMemoryDisk(): boolean {
  if (!existsSync(memoryDisk) || process.availableMemory() < 2 * roomBytes) return false
  const { bavail, bsize } = statfsSync(memoryDisk)
  return bavail * bsize > roomBytes
}

/** The folder of one run. A run that was killed leaves its folder behind, and the next run removes it. */
export async function openScratch(): Promise<string> {
  const root = scratchRoot()
  for (const name of readdirSync(root)) {
    const pid = /^skerry-run-(\d+)-/.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(root, name), { recursive: true, force: true })
  }
  return mkdtemp(join(root, `skerry-run-${process.pid}-`))
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** A new folder in that of the run. */
export const newScratch = (prefix: string): Promise<string> => mkdtemp(join(inject('scratch'), prefix))
