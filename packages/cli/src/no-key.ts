import { isReader } from '@skerry/contract/grants/readers'
import { listMissingGrants } from '@skerry/sdk/internal/granting'
import { RollbackError } from '@skerry/sdk/rollback'
import { Failure, NoKeyFailure, toFailure } from './failure.ts'
import { placeOptions, shellWord, trustHint } from './labels.ts'
import { boundPlace, listPlaces } from './places.ts'
import { readingProfile } from './reading-profile.ts'
import type { Session } from './session.ts'
import { listTokens } from './tokens/find.ts'

/** Explains why there is no key: none was granted, or the key has changed since this machine last used it. */
export async function keyFailure(error: unknown, session: Session, label: string): Promise<unknown> {
  if ((error as { code?: unknown }).code === 'forbidden') return noKey(session, label)
  // The original error names the environment by its id. This one uses its label.
  if (!(error instanceof RollbackError) || error.changes.some(({ kind }) => kind !== 'key_changed')) return error
  return new Failure(
    toFailure(error).kind,
    `the key of ${label} has changed since this machine last used it`,
    trustHint(label, session.settings.profile),
  )
}

/**
 * The error for an environment that the caller cannot read, with the command that helps.
 *
 * @param groups the environments of its groups, if their keys are missing and not its own
 */
export async function noKey(session: Session, label: string, groups: readonly string[] = []): Promise<Failure> {
  const { type, name } = session.principal
  if (type === 'user' && (await hasNoKeys(session))) {
    const next = `run \`skerry keys init\`; then ${await grantHint(session, label)}`
    return new NoKeyFailure('refused', `you (${name}) have no keys yet, so you cannot read ${label}`, next)
  }
  const elsewhere = await boundElsewhere(session, label)
  if (elsewhere) return elsewhere
  const who = type === 'user' ? `you (${name}) do` : `the token ${await granteeName(session)} does`
  const lacking = groups.length === 0 ? label : `${groups.join(', ')}, which ${label} includes`
  return new NoKeyFailure('refused', `${who} not have the key of ${lacking}`, await grantHint(session, label, groups))
}

/** The error for an environment that a bound token cannot read, whoever grants it. Undefined if a grant can help. */
export async function boundElsewhere(session: Session, label: string): Promise<Failure | undefined> {
  if (label.includes(':')) return undefined
  const bound = await boundPlace(session).catch(() => undefined)
  if (!bound || withoutBranch(bound.label) === withoutBranch(label)) return undefined
  return boundTo(bound.label, label, await readingProfile(session, [label]))
}

const withoutBranch = (label: string) => label.replace(/@.*$/, '')

const boundTo = (bound: string, label: string, other: string | undefined): Failure =>
  new NoKeyFailure(
    'refused',
    `this token is bound to ${bound}, and cannot read ${label}`,
    `leave --app and --env out to use ${bound}, or ${other === undefined ? 'use another credential' : `add ${namedHere(other)}`}`,
  )

const namedHere = (profile: string) => `\`--profile ${shellWord(profile)}\`, which can read it`

const hasNoKeys = async ({ client }: Session): Promise<boolean> =>
  (await client.me.getKeys().catch(() => undefined))?.publicKeyJwk === null

/**
 * Another credential may be stored on this machine. It can grant what it can read to a person, and a command with a token
 * can use it instead. Nobody can grant an environment that nobody can read.
 */
async function grantHint(session: Session, label: string, groups: readonly string[] = []): Promise<string> {
  const holders = await holdersOf(session, label)
  if (holders?.length === 0)
    return 'nobody has this key, so nobody can grant it. Recovery custodians can restore it if recovery covers the environment: see `skerry recovery status`'
  const who = await granteeName(session)
  const command = `skerry grant ${who} ${placeOptions(label)}`
  const profile = await readingProfile(session, [label, ...groups], groups.length === 0 ? holders : undefined)
  const isPerson = session.principal.type === 'user'
  if (profile === undefined) {
    if (!isPerson) return `an admin who can read it must run \`${command}\``
    if (await isPlanned(session, [label, ...groups]))
      return `a team or an invitation gives it to you: an admin who can read it must run \`skerry access complete --member ${who}\``
    return `ask for it with \`skerry access ask ${label}\`. An admin who can read it can also run \`${command}\``
  }
  return isPerson
    ? `run \`skerry grant ${who} --all --profile ${shellWord(profile)}\` for everything that the profile can read, or ask an admin to run \`${command}\``
    : `add ${namedHere(profile)}, or ask an admin who can read it to run \`${command}\``
}

/** Whether a team or an invitation of the person asks for one of these keys. A server of an earlier release does not say. */
async function isPlanned(session: Session, labels: readonly string[]): Promise<boolean> {
  const { client, principal } = session
  try {
    const missing = await listMissingGrants(client, (await session.org()).id, { userId: principal.id })
    return missing.some((one) => labels.includes(one.label))
  } catch {
    return false
  }
}

/** The people and tokens that have the key of an environment; undefined if this credential may not know them. */
async function holdersOf(session: Session, label: string): Promise<string[] | undefined> {
  try {
    const place = (await listPlaces(session)).find((one) => one.label === label)
    if (!place) return undefined
    const { id: orgId } = await session.org()
    const { grants } = await session.client.grants.list({ params: { orgId, envId: place.envId } })
    return grants.filter((grant) => !isReader(grant)).map(({ principalId }) => principalId)
  } catch {
    return undefined
  }
}

/**
 * The name by which an admin names the caller: the e-mail address, or the name of the token. The caller may not be
 * allowed to list tokens, and a name may belong to several tokens or need quoting in a shell. The id is used then.
 */
async function granteeName(session: Session): Promise<string> {
  const { type, id, name } = session.principal
  if (type === 'user') return isPlain(name) ? name : id
  try {
    const tokens = await listTokens(session)
    const own = tokens.find((one) => one.id === id)?.name ?? ''
    const isUnique = tokens.filter((one) => one.name === own && one.revokedAt === null).length === 1
    return isUnique && isPlain(own) ? own : id
  } catch {
    return id
  }
}

const isPlain = (name: string) => /^[\w@][\w@.+-]*$/.test(name)
