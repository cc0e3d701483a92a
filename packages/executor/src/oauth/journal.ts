import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { vaultReauthReasons } from '@skerry/contract/vault/facts'
import type { Sealed } from '../credentials.ts'
import { stateFile } from '../keys/state.ts'

export type ReauthReason = (typeof vaultReauthReasons)[number]

/** A refresh that has begun, as far as it came. It outlives the process. */
export interface Entry {
  connectionId: string
  /** The revision whose refresh token was sent. */
  revision: number
  /** What the provider answered, encrypted as it is to be written back. */
  sealed?: Sealed
  /** What the server is still to be told. */
  reason?: ReauthReason
}

/**
 * What was sent to a provider, before it is sent, and what it answered, before that is used: a refresh token that was
 * replaced is never known to this process alone.
 */
export interface Journal {
  read(connectionId: string): Promise<Entry | undefined>
  write(entry: Entry): Promise<void>
  end(connectionId: string): Promise<void>
  /** Connections with a refresh that did not come to its end. */
  open(): Promise<string[]>
}

export function openJournal(stateFolder: string): Journal {
  const folder = join(stateFolder, 'refreshes')
  const fileOf = (connectionId: string) => stateFile<Entry>(folder, `${connectionId}.json`)
  return {
    read: (connectionId) => fileOf(connectionId).read(),
    write: (entry) => fileOf(entry.connectionId).write(entry),
    end: (connectionId) => rm(fileOf(connectionId).path, { force: true }),
    async open() {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      })
      return names.filter((name) => /^vcn_\w+\.json$/.test(name)).map((name) => name.slice(0, -'.json'.length))
    },
  }
}
