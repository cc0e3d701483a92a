import { randomText } from '@skerry/crypto/random'
import { openSecret, sealSecret } from '@skerry/crypto/secret'
import {
  openProven,
  type Renaming,
  referringTo,
  sealRenaming,
  unprovenVersions,
  versionOpener,
} from '@skerry/sdk/secret-history'
import { sealingDekOf } from './committed.ts'
import { dekOf } from './deks.ts'
import { diffLines, type Line } from './diff-lines.ts'
import type { SealedLayer } from './layers.ts'
import type { Place } from './place.ts'

/** A version of a secret, with the record of the names that the secret had. */
interface PlacedVersion extends Place {
  history: { formerNames?: string | null }
  version: number
  ciphertext: string
}

/** A secret with its whole history. */
interface PlacedHistory extends Place {
  history: Parameters<typeof unprovenVersions>[0]
}

async function openVersion({ wrappedDek, environmentId: envId, name, history, ...version }: PlacedVersion) {
  const open = await versionOpener(history, { envId, name }, await dekOf(wrappedDek))
  return open(version)
}

export const secretOperations = {
  openSecret: async ({ wrappedDek, environmentId, name, ciphertext }: Place & { ciphertext: string }) =>
    openSecret(ciphertext, await dekOf(wrappedDek), environmentId, name),

  sealSecret: async ({ wrappedDek, environmentId, name, value }: Place & { value: string }) =>
    sealSecret(value, await sealingDekOf({ wrappedDek, environmentId }), environmentId, name),

  /** Makes a value of letters and digits, every one equally likely. Needs no key. */
  generateValue: ({ length }: { length: number }) => randomText(length),

  /** Decrypts a version, also one from before a rename. */
  openVersion,

  /** Returns the versions that the record of former names does not prove. */
  unprovenVersions: async ({ wrappedDek, environmentId: envId, name, history }: PlacedHistory) =>
    unprovenVersions(history, { envId, name }, await dekOf(wrappedDek)),

  /** Compares two versions line by line. */
  diffVersions: async ({ before, after }: { before: PlacedVersion; after: PlacedVersion }): Promise<Line[]> =>
    diffLines((await openVersion(before)).split('\n'), (await openVersion(after)).split('\n')),

  /** Encrypts the value of a version from before a rename anew. Refuses a version that nothing proves. */
  resealVersion: async ({ wrappedDek, environmentId: envId, name, history, ...version }: PlacedVersion) => {
    const dek = await sealingDekOf({ wrappedDek, environmentId: envId })
    return sealSecret(await openProven(history, { envId, name }, version, dek), dek, envId, name)
  },

  /** Encrypts everything of a secret that is renamed. */
  sealRenaming: async ({
    wrappedDek,
    renaming,
    newName,
  }: {
    wrappedDek: string
    renaming: Renaming
    newName: string
  }) => {
    const { environmentId } = renaming.secret
    return sealRenaming(renaming, newName, await sealingDekOf({ wrappedDek, environmentId }))
  },

  /** Returns the names of the secrets whose values refer to this name. */
  referringTo: async ({ wrappedDek, environmentId, secrets, to }: SealedLayer & { to: string }) =>
    referringTo(
      secrets.map((secret) => ({ ...secret, environmentId })),
      to,
      await dekOf(wrappedDek),
    ),
}
