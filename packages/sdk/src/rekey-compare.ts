import { openDetails } from '@skerry/crypto/details'
import { type Dek, openSecret } from '@skerry/crypto/secret'

// The comparison of a proposed re-key, which the SDK and the dashboard share.

/**
 * A difference between a proposed re-key and the present state. A correct re-key encrypts every text (the value of a
 * secret, or its description and tags) again, and changes none of them. `problem` is one of these:
 *
 * - `differs`: the proposal contains another text.
 * - `missing`: the proposal does not contain the text, so the re-key would delete it.
 * - `added`: the environment does not have this secret or description now.
 * - `unreadable`: the new key does not decrypt the text in the proposal.
 * - `unreadable_now`: the key that the environment has now does not decrypt the text that it has now, so nobody can
 *   compare this text with the proposal.
 */
export interface RekeyProblem {
  /** `secret` for the value of a secret, `description` for its description and tags. */
  kind: 'secret' | 'description'
  /** The name of the secret. */
  name: string
  problem: 'differs' | 'missing' | 'added' | 'unreadable' | 'unreadable_now'
}

/** The secrets and descriptions of an environment, encrypted under one key. */
export interface SealedEnvironment {
  secrets: readonly { name: string; ciphertext: string }[]
  details: readonly { name: string; sealed: string | null }[]
}

/**
 * Opens everything with the present key and the new one, and names what is not the same. The order is by name, secrets
 * first.
 *
 * @example
 * const sealed = { secrets: [{ name: 'API_KEY', ciphertext: value }], details: [] }
 * const problems = await findRekeyProblems(envId, { key: dek, sealed }, { key: dek, sealed })
 */
export async function findRekeyProblems(
  envId: string,
  now: { key: Dek; sealed: SealedEnvironment },
  proposed: { key: Dek; sealed: SealedEnvironment },
): Promise<RekeyProblem[]> {
  const keys = { old: now.key, fresh: proposed.key }
  const ofSecrets = await compareEach('secret', secretsOf(now.sealed), secretsOf(proposed.sealed), {
    ...keys,
    open: (sealed, dek, name) => openSecret(sealed, dek, envId, name),
  })
  const ofDetails = await compareEach('description', detailsOf(now.sealed), detailsOf(proposed.sealed), {
    ...keys,
    open: async (sealed, dek, name) => JSON.stringify(await openDetails(sealed, dek, envId, name)),
  })
  // A re-key drops a description that nobody can read.
  return [...ofSecrets, ...ofDetails.filter(({ problem }) => problem !== 'unreadable_now')]
}

const secretsOf = ({ secrets }: SealedEnvironment) =>
  new Map(secrets.map(({ name, ciphertext }) => [name, ciphertext] as const))

const detailsOf = ({ details }: SealedEnvironment) =>
  new Map(details.flatMap(({ name, sealed }) => (sealed === null ? [] : [[name, sealed] as const])))

interface Opening {
  old: Dek
  fresh: Dek
  open: (sealed: string, dek: Dek, name: string) => Promise<string>
}

async function compareEach(
  kind: RekeyProblem['kind'],
  now: ReadonlyMap<string, string>,
  proposed: ReadonlyMap<string, string>,
  opening: Opening,
): Promise<RekeyProblem[]> {
  const names = [...new Set([...now.keys(), ...proposed.keys()])].sort()
  const found = await Promise.all(names.map((name) => compareOne(name, now.get(name), proposed.get(name), opening)))
  return names.flatMap((name, at) => {
    const problem = found[at]
    return problem === undefined ? [] : [{ kind, name, problem }]
  })
}

async function compareOne(
  name: string,
  now: string | undefined,
  proposed: string | undefined,
  { old, fresh, open }: Opening,
): Promise<RekeyProblem['problem'] | undefined> {
  if (now === undefined) return 'added'
  const value = await open(now, old, name).catch(() => undefined)
  if (value === undefined) return 'unreadable_now'
  if (proposed === undefined) return 'missing'
  const given = await open(proposed, fresh, name).catch(() => undefined)
  if (given === undefined) return 'unreadable'
  return given === value ? undefined : 'differs'
}
