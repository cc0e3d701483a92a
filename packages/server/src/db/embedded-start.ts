import { PGlite } from '@electric-sql/pglite'
import { DurableFs } from './durable-fs.ts'

const settings = {
  fsync: 'on',
  // emscripten's fdatasync is a stub that syncs nothing; fsync reaches the disk through DurableFs.
  wal_sync_method: 'fsync',
  search_path: 'public',
  timezone: 'UTC',
  exit_on_error: 'false',
  log_checkpoints: 'false',
  max_worker_processes: '0',
  max_parallel_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  io_method: 'sync',
  shared_buffers: '16MB',
  // Nobody else connects, and CHECKPOINT is ours to call: keep one spare WAL segment rather than five.
  min_wal_size: '32MB',
}

/** Instead of PGlite's own start parameters, which hold -F: fsync off. */
const startParams = [
  '--single',
  '-O',
  '-j',
  ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
]

/** Starts PostgreSQL on a directory; runs initdb in this process when it is empty. */
export async function startPglite(pgDir: string, onFsync?: (file: string) => void): Promise<PGlite> {
  return await PGlite.create({ fs: new DurableFs(pgDir, onFsync), startParams })
}
