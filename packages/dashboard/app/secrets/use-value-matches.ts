import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { KeyringError, keyring, useUnlocked } from '../keyring.ts'
import { type Column, sealedParts } from './columns.ts'

/** Shorter texts are in too many values to help. */
const charactersMin = 3
const none: ReadonlySet<string> = new Set()

/** Returns the names of the secrets that have a value with the text. The values are searched in the keyring's worker. */
export function useValueMatches(columns: Column[], text: string): ReadonlySet<string> {
  const unlocked = useUnlocked()
  const [wanted] = useDebouncedValue(text.trim(), 150)
  const [found, setFound] = useState(none)
  useEffect(() => {
    setFound(none)
    if (!unlocked || wanted.length < charactersMin) return
    let ended = false
    void findNames(columns, wanted).then((names) => ended || setFound(names))
    return () => {
      ended = true
    }
  }, [columns, wanted, unlocked])
  return found
}

async function findNames(columns: Column[], text: string): Promise<ReadonlySet<string>> {
  const parts = columns.flatMap(({ entries }) => sealedParts(entries.values()))
  const names = await Promise.all(parts.map((part) => namesIn({ ...part, text })))
  return new Set(names.flat())
}

/** A layer whose key cannot be unwrapped has no matches, and the others are still searched. */
async function namesIn(part: Parameters<typeof keyring.call<'findInValues'>>[1]): Promise<string[]> {
  try {
    // A search asks for no passphrase: a keyring that locked meanwhile has no matches.
    return await keyring.callLocked('findInValues', part)
  } catch (error) {
    if (error instanceof KeyringError) return []
    throw error
  }
}
