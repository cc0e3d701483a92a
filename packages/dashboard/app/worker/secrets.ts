import { randomText } from '@skerry/crypto/random'
import { openSecret, sealSecret } from '@skerry/crypto/secret'
import { dekOf } from './deks.ts'

/** A secret's name in an environment, and this person's wrapped copy of the environment's key. */
interface Place {
  wrappedDek: string
  environmentId: string
  name: string
}

export const secretOperations = {
  openSecret: async ({ wrappedDek, environmentId, name, ciphertext }: Place & { ciphertext: string }) =>
    openSecret(ciphertext, await dekOf(wrappedDek), environmentId, name),

  sealSecret: async ({ wrappedDek, environmentId, name, value }: Place & { value: string }) =>
    sealSecret(value, await dekOf(wrappedDek), environmentId, name),

  /** Makes a value of letters and digits, every one equally likely. Needs no key. */
  generateValue: ({ length }: { length: number }) => randomText(length),
}
