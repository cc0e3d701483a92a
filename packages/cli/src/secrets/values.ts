import type { CryptoError } from '@skerry/crypto/errors'
import { expandEach } from '@skerry/crypto/references'
import { openSecret } from '@skerry/crypto/secret'
import { createSkerry, type Resolved } from '@skerry/sdk'
import { environmentKey } from '@skerry/sdk/secrets'
import { Failure, usage } from '../failure.ts'
import type { Values } from '../formats/names.ts'
import { fetchOverHttp } from '../http.ts'
import { mustVerify } from '../known-directories.ts'
import { keyFailure } from '../no-key.ts'
import { warn } from '../output.ts'
import type { Place } from '../places.ts'
import { fitsEnvironment } from '../run/environment.ts'
import { warnLoadingName } from '../run/withheld.ts'
import { type Session, userAgent } from '../session.ts'
import { trustedHolder } from '../trusted-holder.ts'
import { ownSource, type Source, sourcesOf } from './sources.ts'

/** A secret as it is stored in one environment, decrypted. References in it are not expanded. */
export interface StoredSecret {
  name: string
  version: number
  updatedAt: string
  value: string
}

/** Lists the secrets of one environment in name order. It needs no key, because the values stay encrypted. */
export async function listSecrets(session: Session, { orgId, envId, label }: Pick<Place, 'orgId' | 'envId' | 'label'>) {
  try {
    const { secrets } = await session.client.secrets.list({ params: { orgId, envId } })
    const newestVersion = async (name: string) => {
      const params = { orgId, envId, name }
      return (await session.client.secrets.versions({ params, query: { limit: 1 } })).versions[0]
    }
    await session.knownState.reading.check({ environments: [{ environmentId: envId, label, secrets, newestVersion }] })
    return secrets.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    throw await keyFailure(error, session, label)
  }
}

export async function storedSecrets(session: Session, place: Place): Promise<StoredSecret[]> {
  const [secrets, { dek }] = await Promise.all([listSecrets(session, place), openKey(session, place, 'read')])
  return Promise.all(
    secrets.map(async ({ name, version, updatedAt, ciphertext }) => {
      const value = await openSecret(ciphertext, dek, place.envId, name).catch(() => {
        throw new Failure('failure', `${name} in ${place.label} cannot be decrypted: it was altered or moved`)
      })
      return { name, version, updatedAt, value }
    }),
  )
}

/** @param purpose `read` for a command that only shows values. */
export async function openKey(session: Session, place: Place, purpose: 'read' | 'write' = 'write') {
  try {
    return await environmentKey(session.client, place, await trustedHolder(session, place, purpose))
  } catch (error) {
    throw await keyFailure(error, session, place.label)
  }
}

interface Merging {
  expand: boolean
  /** Groups with another environment, as `group:env`, like `skerry run --with`. */
  with?: string[] | undefined
  /** The person whose overrides are used. */
  overrides?: { orgId: string; userId: string } | undefined
}

/** Resolves all values that a program gets: groups, environment and branch merged. */
export async function resolvePlace(session: Session, place: Place, options: Merging): Promise<Resolved> {
  const { url: baseUrl, allowInsecure } = session.settings
  const branch = place.kind === 'branch' ? { branch: place.envId } : {}
  return createSkerry({
    ...(await session.reader()),
    knownState: session.knownState.reading,
    directory: mustVerify(session)
      ? await (await import('../trust/reading.ts')).directorySettings(session, place.label)
      : undefined,
    baseUrl,
    allowInsecure,
    userAgent,
    fetch: fetchOverHttp,
    env: place.parentId,
    ...branch,
    ...(options.with?.length ? { with: options.with } : {}),
    interpolate: options.expand,
    overrides: options.overrides,
    partial: true,
  }).resolve()
}

/** Options that select which values of an environment are shown. Without them: the values that a program gets. */
export interface View {
  /** The texts of this environment alone, as they are stored. */
  stored?: boolean | undefined
  /** Merged with groups and parent, without expanding references. */
  merged?: boolean | undefined
  /** The values that a program gets. This is the default, so the option is only kept for older scripts. */
  expand?: boolean | undefined
  with?: string[] | undefined
}

type ViewKind = 'stored' | 'merged' | 'expanded'

/** Checks that the options fit together, before anything is fetched. */
export function kindOf({ stored, merged, expand, with: groups }: View): ViewKind {
  if (stored && (merged || expand || groups?.length))
    throw usage(
      '--stored cannot be used with --merged, --expand or --with',
      'leave --stored out for the values that programs get',
    )
  if (stored) return 'stored'
  return merged && !expand ? 'merged' : 'expanded'
}

export interface Viewed {
  values: Record<string, string>
  /** The source of each value, by name. */
  sources: Readonly<Record<string, Source>>
  /** Names that values refer to and that do not exist. Empty if references are not expanded. */
  unresolved: string[]
  /** Names whose references cannot be expanded. */
  unexpanded: ReadonlyMap<string, CryptoError>
}

export async function viewValues(session: Session, place: Place, view: View): Promise<Viewed> {
  const kind = kindOf(view)
  const { with: groups } = view
  checkGroups(place, groups)
  if (place.kind !== 'group' && kind !== 'stored') {
    const resolved = await resolvePlace(session, place, { expand: kind === 'expanded', with: groups })
    return { ...resolved, sources: sourcesOf(resolved, place) }
  }
  const stored = Object.fromEntries((await storedSecrets(session, place)).map(({ name, value }) => [name, value]))
  const sources = Object.fromEntries(Object.keys(stored).map((name) => [name, ownSource(place)]))
  if (kind !== 'expanded') return { values: stored, sources, unresolved: [], unexpanded: new Map() }
  const { failed, ...rest } = expandEach(stored)
  return { ...rest, sources, unexpanded: failed }
}

/**
 * Explains a refusal. If the key of one group is missing, nothing of the environment can be resolved, but its own
 * secrets can be shown.
 */
export async function hintStored<T>(asked: Promise<T>, session: Session, place: Place): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'forbidden') throw error
    const { refusalAt } = await import('../run/refusal.ts')
    const failure = await refusalAt(error as Error, session, place)
    if (!failure.message.endsWith(`which ${place.label} includes`)) throw failure
    const next = `${failure.next}; --stored shows what ${place.label} itself stores`
    throw new Failure('refused', failure.message, next)
  }
}

export function checkGroups(place: Place, groups: readonly string[] | undefined): void {
  if (groups?.length && place.kind === 'group') throw usage(`${place.label} is a group, which contains no other group`)
}

export const sorted = (values: Iterable<[string, string]>): Values =>
  new Map([...values].sort(([a], [b]) => (a < b ? -1 : 1)))

/** Refuses a value that no environment variable can hold, because no program could start with it. */
export function checkValue(name: string, value: string): void {
  if (value.includes('\0')) {
    throw usage(`the value of ${name} has a NUL byte, which no environment variable can hold`, 'encode it as base64')
  }
  if (!value.isWellFormed()) throw usage(`the value of ${name} is not well-formed Unicode`)
  if (Buffer.byteLength(value) > valueMaxBytes) {
    throw usage(`the value of ${name} is larger than ${valueMaxBytes} bytes`, 'keep large files elsewhere')
  }
  if (!fitsEnvironment(name, value)) {
    warn(`${name} is larger than an environment variable can be: \`skerry run\` will need --only to leave it out`)
  }
  warnLoadingName(name)
}

/**
 * The largest value that fits into a ciphertext of 1 MiB: `sc1.`, an IV, a dot, and base64url of the value and a
 * 16-byte tag.
 */
const valueMaxBytes = Math.floor(((1024 * 1024 - 21) * 3) / 4) - 16
