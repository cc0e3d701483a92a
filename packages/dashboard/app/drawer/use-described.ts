import { useEffect } from 'react'
import { KeyringError, keyring, usePlaintext, useUnlocked } from '../keyring.ts'
import type { Layer } from '../secrets/columns.ts'
import type { Details } from './queries.ts'

/** The text that people write about a secret. */
export interface Description {
  description: string
  tags: string[]
}

/** The text, or why it is not shown. `unreadable` means that the environment's key does not decrypt it. */
export type Described = { text: Description } | { text: null; why: 'locked' | 'opening' | 'unreadable' }

const unwritten: Description = { description: '', tags: [] }

/** Decrypts the description and the tags of a secret while the keyring is unlocked. */
export function useDescribed({ wrappedDek, environmentId }: Layer, name: string, row: Details | undefined): Described {
  const unlocked = useUnlocked()
  const [opened, setOpened] = usePlaintext<{ sealed: string; text: Description | null } | null>(null)
  const sealed = row?.sealed ?? null
  useEffect(() => {
    if (!unlocked || sealed === null) return
    let isWanted = true
    const show = (text: Description | null) => isWanted && setOpened({ sealed, text })
    keyring.call('openDetails', { wrappedDek, environmentId, name, sealed }).then(show, (error) => {
      if (!(error instanceof KeyringError && error.code === 'locked')) show(null)
    })
    return () => {
      isWanted = false
    }
  }, [unlocked, wrappedDek, environmentId, name, sealed, setOpened])
  if (sealed === null) return { text: unwritten }
  if (opened?.sealed === sealed) return opened.text ? { text: opened.text } : { text: null, why: 'unreadable' }
  return { text: null, why: unlocked ? 'opening' : 'locked' }
}
