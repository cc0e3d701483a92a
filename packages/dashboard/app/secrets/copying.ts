import { useEffect, useState } from 'react'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import { type Change, changeOf, namesOfColumn } from './changes.ts'
import { type Column, type Entry, type Layer, sealedParts } from './columns.ts'
import type { BothValues } from './compared-values.tsx'
import { openCell } from './use-revealed.ts'

// Copies values between environments. The keyring's worker decrypts and seals them, so the page shows none unless asked.

/** Seals all of these values for the target, or fails. Returns the ciphertexts by name. */
export async function resealFor(
  column: Column,
  { environmentId, own: { wrappedDek } }: Column & { own: Layer },
  names: string[],
): Promise<ReadonlyMap<string, string>> {
  const from = sealedParts(names.flatMap((name) => column.entries.get(name) ?? []))
  // Under the name of the first environment, a server could show the values of another one.
  await checkMeanings([environmentId, ...from.map((part) => part.environmentId)])
  const sealed = await keyring.call('resealSecrets', { from, to: { wrappedDek, environmentId } })
  return new Map(sealed.map((one) => [one.name, one.ciphertext]))
}

/** Decrypts the value of the target and the value that would replace it. */
export async function openBoth(column: Column, target: Column, name: string): Promise<BothValues> {
  const open = (at: Column) => openCell({ column: at, entry: at.entries.get(name) as Entry })
  const [before, after] = await Promise.all([open(target), open(column)])
  return { before, after }
}

/**
 * Returns the changes that a copy would make; without `only`, of all names. The worker compares values: equal IDs mean
 * equal values. Values that cannot be decrypted are left out.
 */
export function useCopyChanges(column: Column | undefined, target: Column | undefined, only?: readonly string[]) {
  const [changes, setChanges] = useState<Change[]>([])
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    setChanges([])
    if (!column || !target) return
    let ended = false
    const names = only === undefined ? namesOfColumn(column) : only.filter((name) => column.entries.has(name))
    Promise.all([valueIdsOf(column, names), valueIdsOf(target, names)]).then(
      ([from, to]) => {
        if (ended) return
        const open = names.filter((name) => (from.get(name) ?? -1) >= 0)
        setChanges(open.map((name) => changeOf(name, target.entries.get(name), from.get(name) === to.get(name))))
      },
      (thrown) => ended || setError(thrown),
    )
    return () => {
      ended = true
    }
  }, [column, target, only])
  return { changes, error }
}

async function valueIdsOf({ entries }: Column, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const parts = sealedParts(names.flatMap((name) => entries.get(name) ?? []))
  const identified = parts.map(async (part) => {
    const valueIds = await keyring.call('identifyValues', part)
    return part.secrets.map(({ name }, i) => [name, valueIds[i] as number] as const)
  })
  return new Map((await Promise.all(identified)).flat())
}
