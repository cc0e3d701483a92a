import { setFlagsFromString } from 'node:v8'
import { PGlite } from '@electric-sql/pglite'
import { DurableFs } from './durable-fs.ts'

const settings = {
  fsync: 'on',
  // emscripten's fdatasync syncs nothing; fsync reaches the disk through DurableFs.
  wal_sync_method: 'fsync',
  search_path: 'public',
  timezone: 'UTC',
  exit_on_error: 'false',
  log_checkpoints: 'false',
  // PGlite cannot start other processes. PostgreSQL 18 would wait forever for its I/O workers.
  io_method: 'sync',
  max_worker_processes: '0',
  max_parallel_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  shared_buffers: '16MB',
  min_wal_size: '16MB',
}

/** Replaces PGlite's own start parameters, which contain -F (fsync off). */
const startParams = ['--single', '-O', '-j']
for (const [name, value] of Object.entries(settings)) startParams.push('-c', `${name}=${value}`)

/**
 * V8 would compile hot functions of PGlite again with its optimizing compiler, soon after each start. One of them (the
 * SQL grammar, 105 kB of code) takes 600 MB and 2 s to compile. With that, the process peaks at 740 MB and stays at 228
 * MB; without it, at 157 MB and 153 MB. A select by primary key, an insert and a transaction take the same time. An
 * aggregate over 2,000 rows takes 1.7 ms instead of 0.5 ms.
 */
function compileOnce(): void {
  setFlagsFromString('--no-wasm-tier-up')
  setFlagsFromString('--no-wasm-dynamic-tiering')
}

export interface StartOptions {
  onFsync?: ((file: string) => void) | undefined
  /** Called with the reason when PostgreSQL stops by itself. */
  onPanic?: ((line: string) => void) | undefined
  /** Lets V8 optimize PGlite. This pays off only in a process that opens hundreds of databases, such as one of tests. */
  optimize?: boolean | undefined
}

/** Starts PostgreSQL on a directory. If the directory is empty, it runs initdb in this process. */
export async function startPglite(pgDir: string, { onFsync, onPanic, optimize }: StartOptions = {}): Promise<PGlite> {
  if (!optimize) compileOnce()
  return await PGlite.create({
    fs: new DurableFs(pgDir, onFsync),
    startParams,
    // Smaller than the default of 16 MB. Without the databases that scripts/database-template.ts drops, a data
    // directory takes 16 MB instead of 39.
    initDbStartParams: ['--wal-segsize=4'],
    onStderr(line) {
      const [, message] = /(?:PANIC|FATAL): +(.*)/.exec(line) ?? []
      if (message !== undefined) onPanic?.(message)
      return false
    },
  })
}
