import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { vaultReauthReasons } from '@skerry/contract/vault/facts'
import type { Sealed } from '../credentials.ts'
import { stateFile } from '../keys/state.ts'

export type ReauthReason = (typeof vaultReauthReasons)[number]

/** The progress of a refresh that has begun. It survives the process. */
export interface Entry {
  connectionId: string
  /** The revision whose refresh token was sent. */
  revision: number
  /** The provider's answer, encrypted in the form in which it is written back. */
  sealed?: Sealed
  /** Why the person must sign in again, if the server does not know this yet. */
  reason?: ReauthReason
}

/**
 * Records each refresh before it is sent, and each answer before it is used. So this process is never the only place
 * that knows a new refresh token.
 */
export interface Journal {
  read(connectionId: string): Promise<Entry | undefined>
  write(entry: Entry): Promise<void>
  end(connectionId: string): Promise<void>
  /** Connections with an unfinished refresh. */
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
