import type { CryptoError } from '@skerry/crypto/errors'
import { expandEach } from '@skerry/crypto/references'
import { openSecret } from '@skerry/crypto/secret'
import { environmentKey } from '@skerry/sdk/secrets'
import { createSkerry, type Resolved } from '@skerry/sdk/skerry'
import { Failure, usage } from '../failure.ts'
import type { Values } from '../formats/names.ts'
import { keyFailure } from '../grants.ts'
import { fetchOverHttp } from '../http.ts'
import { warn } from '../output.ts'
import type { Place } from '../places.ts'
import { fitsEnvironment } from '../run/environment.ts'
import { warnLoadingName } from '../run/withheld.ts'
import { type Session, userAgent } from '../session.ts'

/** A secret as it is stored in one environment, decrypted. References in it are text. */
export interface StoredSecret {
  name: string
  version: number
  updatedAt: string
  value: string
}

/** What an environment holds itself, in name order, without a key: ciphertext stays ciphertext. */
export async function listSecrets(session: Session, place: Place) {
  const { orgId, envId, label } = place
  try {
    const { secrets } = await session.client.secrets.list({ params: { orgId, envId } })
    const newestVersion = async (name: string) => {
      const params = { orgId, envId, name }
      return (await session.client.secrets.versions({ params, query: { limit: 1 } })).versions[0]
    }
    await session.history.reading.check({ environments: [{ environmentId: envId, label, secrets, newestVersion }] })
    return secrets.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    throw keyFailure(error, session, label)
  }
}

export async function storedSecrets(session: Session, place: Place): Promise<StoredSecret[]> {
  const [secrets, { dek }] = await Promise.all([listSecrets(session, place), openKey(session, place)])
  return Promise.all(
    secrets.map(async ({ name, version, updatedAt, ciphertext }) => {
      const value = await openSecret(ciphertext, dek, place.envId, name).catch(() => {
        throw new Failure('failure', `${name} in ${place.label} cannot be decrypted: it was altered or moved`)
      })
      return { name, version, updatedAt, value }
    }),
  )
}

export async function openKey(session: Session, place: Place) {
  const holder = await session.key()
  try {
    return await environmentKey(session.client, place, holder)
  } catch (error) {
    throw keyFailure(error, session, place.label)
  }
}

interface Merging {
  expand: boolean
  /** Groups taken at other environments, `group:env`, as `skerry run --with` takes them. */
  with?: string[] | undefined
}

/** Everything that a program would get there: groups, environment and branch merged. */
export async function resolvePlace(session: Session, place: Place, options: Merging): Promise<Resolved> {
  const { url: baseUrl, allowInsecure } = session.settings
  const branch = place.kind === 'branch' ? { branch: place.envId } : {}
  return createSkerry({
    ...(await session.reader()),
    history: session.history.reading,
    baseUrl,
    allowInsecure,
    userAgent,
    fetch: fetchOverHttp,
    env: place.parentId,
    ...branch,
    ...(options.with?.length ? { with: options.with } : {}),
    interpolate: options.expand,
    partial: true,
  }).resolve()
}

/** Which text of an environment's values: its own as stored, merged with groups, or merged and expanded. */
export interface View {
  merged?: boolean
  expand?: boolean
  with?: string[]
}

export interface Viewed {
  values: Record<string, string>
  /** Names that values refer to and that are not there; none where references are not expanded. */
  unresolved: string[]
  /** Names whose references cannot be expanded. */
  unexpanded: ReadonlyMap<string, CryptoError>
}

export async function viewValues(session: Session, place: Place, view: View): Promise<Viewed> {
  const { merged, expand = false, with: groups } = view
  if (groups?.length && place.kind === 'group') throw usage(`${place.label} is a group, which takes no other in`)
  if (groups?.length && !merged && !expand) throw usage('--with goes with --merged or --expand')
  if (place.kind !== 'group' && (merged || expand)) return resolvePlace(session, place, { expand, with: groups })
  const stored = Object.fromEntries((await storedSecrets(session, place)).map(({ name, value }) => [name, value]))
  if (!expand) return { values: stored, unresolved: [], unexpanded: new Map() }
  const { failed, ...rest } = expandEach(stored)
  return { ...rest, unexpanded: failed }
}

export const sorted = (values: Iterable<[string, string]>): Values =>
  new Map([...values].sort(([a], [b]) => (a < b ? -1 : 1)))

/** A value that no environment variable can carry would stop every program that gets it, so it is not stored. */
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

/** What fits into a ciphertext of 1 MiB: `sc1.`, an IV, a dot, and base64url of the value and a 16-byte tag. */
const valueMaxBytes = Math.floor(((1024 * 1024 - 21) * 3) / 4) - 16
