import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

interface Stream {
  nfd: number
  node: { name: string }
}

/** The parts of the emscripten module that concern fsync and PostgreSQL's exit. */
interface EmscriptenModule {
  stackRestore(pointer: number): void
  NODEFS: {
    stream_ops: { fsync?: (stream: Stream) => number }
    tryFSOperation<T>(operation: () => T): T
  }
}

type InitOptions = Parameters<NodeFS['init']>[1]

/**
 * PGlite's file system on node:fs, with fsync added. emscripten's file system for Node has no fsync callback, so
 * PostgreSQL's fsync(2) does nothing, and an acknowledged commit is lost when the machine crashes. PostgreSQL gets
 * failures as errno. It then panics, because it cannot trust a page cache that failed to write (data_sync_retry = off).
 *
 * When PostgreSQL panics, the call into it ends with an exception.
 *
 * emscripten's fdatasync ignores even this callback, so PostgreSQL must run with wal_sync_method = fsync.
 */
export class DurableFs extends NodeFS {
  private readonly onFsync: ((file: string) => void) | undefined

  constructor(dataDir: string, onFsync?: (file: string) => void) {
    super(dataDir)
    this.onFsync = onFsync
  }

  override async init(pglite: PGlite, options: InitOptions): ReturnType<NodeFS['init']> {
    const result = await super.init(pglite, options)
    let module: EmscriptenModule
    const addFsync = (started: unknown) => {
      module = started as EmscriptenModule
      const { NODEFS } = module
      NODEFS.stream_ops.fsync = (stream) => {
        NODEFS.tryFSOperation(() => {
          fsyncSync(stream.nfd)
          this.onFsync?.(stream.node.name)
        })
        return 0
      }
    }
    const { emscriptenOpts } = result
    emscriptenOpts.onAbort = () => {
      // PGlite catches the exception and would call the dead PostgreSQL again and again for the rest of the message.
      // This is the only call in its loop outside its try block.
      module.stackRestore = () => {
        throw new Error('PostgreSQL has ended')
      }
    }
    emscriptenOpts.preRun = [...(emscriptenOpts.preRun ?? []), addFsync]
    return result
  }
}

/** Syncs a finished directory tree, so that it survives a power cut. Call it before the tree is renamed into place. */
export function fsyncTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) fsyncTree(child)
    else if (entry.isFile()) fsyncPath(child, 'r+')
  }
  fsyncDirectory(path)
}

/** Syncs the parent directory. A rename changes an entry there. */
export function fsyncParent(path: string): void {
  fsyncDirectory(dirname(path))
}

function fsyncDirectory(path: string): void {
  if (process.platform === 'win32') return // Windows cannot sync a directory; NTFS journals its directories
  fsyncPath(path, 'r')
}

function fsyncPath(path: string, flags: 'r' | 'r+'): void {
  const fd = openSync(path, flags)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
