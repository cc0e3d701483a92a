import { isProduction } from '@skerry/contract/envs/production'
import { idPattern, isNamed } from '@skerry/contract/prefixes'
import { isAlreadyGranted } from '@skerry/sdk/errors'
import { environmentKey, type Grantee, grantEnvironment } from '@skerry/sdk/secrets'
import { Failure, NoKeyFailure, toFailure } from './failure.ts'
import { environmentShared, noteReaders } from './known-readers.ts'
import { placeOptions } from './labels.ts'
import { orNearest } from './nearest.ts'
import { keyFailure } from './no-key.ts'
import { checkNames, findPlaceById, listPlaces, type Place } from './places.ts'
import type { Session } from './session.ts'
import { findToken, wantedTokenName } from './tokens/find.ts'
import { trustedHolder } from './trusted-holder.ts'

/** An environment with its opened key, ready to be granted. */
export interface OpenPlace {
  orgId: string
  envId: string
  label: string
  key: Awaited<ReturnType<typeof environmentKey>>
}

/**
 * Opens an environment, the environments of the groups composed into it, and the parent of a branch. A resolve is
 * refused as a whole if one of these keys is missing. All keys are fetched before anything changes.
 */
export async function openWithGroups(session: Session, place: Place): Promise<OpenPlace[]> {
  const parents = place.kind === 'branch' ? [await parentOf(session, place)] : []
  const slug = parents[0]?.slug ?? place.environment.slug
  const targets = [
    { envId: place.envId, label: place.label },
    ...(await composedEnvironments(session, place, slug)),
    ...parents,
  ]
  return Promise.all(targets.map(({ envId, label }) => openPlace(session, place.orgId, envId, label)))
}

export async function openPlace(session: Session, orgId: string, envId: string, label: string): Promise<OpenPlace> {
  try {
    const holder = await trustedHolder(session, { orgId, label }, 'write')
    return { orgId, envId, label, key: await environmentKey(session.client, { orgId, envId }, holder) }
  } catch (error) {
    throw await keyFailure(error, session, label)
  }
}

/**
 * Opens every environment that this credential can decrypt, with `but: 'production'` except production and its branches. The server does not say which branches it can decrypt, so
 * each branch is tried. An untrusted key is an error, because leaving the environment out could go unnoticed.
 */
export async function everyOpenPlace(session: Session, { but }: { but?: 'production' } = {}): Promise<OpenPlace[]> {
  const { id: orgId } = await session.org()
  const readable = (await listPlaces(session)).filter(
    ({ canDecrypt, label }) => canDecrypt !== false && !(but === 'production' && isProductionLabel(label)),
  )
  await checkNames(session, orgId, readable)
  const opened = await Promise.all(
    readable.map(async ({ envId, label }) => {
      try {
        return await openPlace(session, orgId, envId, label)
      } catch (error) {
        if (!(error instanceof NoKeyFailure)) throw error
      }
    }),
  )
  return opened.filter((one) => one !== undefined)
}

/** Returns true for `shop/production`, for its branches and for `shared:production`. */
const isProductionLabel = (label: string): boolean => isProduction(label.replace(/@.*$/, '').replace(/^.*[/:]/, ''))

/** Finds the environment with this slug in each composed group. A group without one contributes nothing. */
async function composedEnvironments(
  session: Session,
  place: Place,
  slug: string,
): Promise<{ envId: string; label: string }[]> {
  if (place.kind === 'group') return []
  const { orgId, parentId } = place
  const { groups } = await session.client.composition.list({ params: { orgId, envId: parentId } })
  const found = await Promise.all(groups.map((group) => groupEnvironment(session, orgId, group, slug)))
  return found.filter((one) => one !== undefined)
}

export async function groupEnvironment(
  session: Session,
  orgId: string,
  group: { groupId: string; slug: string },
  slug: string,
): Promise<{ envId: string; label: string } | undefined> {
  const { environments } = await session.client.groups.envs({ params: { orgId, groupId: group.groupId } })
  const same = environments.find((one) => one.slug === slug)
  if (!same) return undefined
  const found = { envId: same.id, label: `${group.slug}:${slug}` }
  await checkNames(session, orgId, [found])
  return found
}

async function parentOf(session: Session, place: Place) {
  const { environment } = await session.client.envs.get({ params: { orgId: place.orgId, envId: place.parentId } })
  return { envId: environment.id, slug: environment.slug, label: place.label.replace(/@.*$/, '') }
}

/** The keys in words for people. */
export const keysOf = (places: readonly OpenPlace[]): string =>
  places.length === 1 ? `the key of ${places[0]!.label}` : `the keys of ${places.length} environments`

/**
 * Grants the key of each environment, for some time if `seconds` is given. Returns the granted labels, and those whose
 * key the grantee already had.
 */
export async function grantAll(session: Session, places: OpenPlace[], grantee: Grantee, seconds?: number) {
  const granted: string[] = []
  const held: string[] = []
  for (const { orgId, envId, label, key } of places) {
    try {
      await grantEnvironment(session.client, { orgId, envId, ...grantee }, key.bytes, seconds)
      granted.push(label)
    } catch (error) {
      if (!isAlreadyGranted(error)) throw await incomplete(session, error, { granted, at: label, grantee })
      held.push(label)
    }
    await noteReaders(session, await environmentShared(orgId, envId, key), [grantee])
  }
  return { granted, held }
}

/** @param at the environment whose key was not granted */
async function incomplete(
  session: Session,
  error: unknown,
  { granted, at, grantee }: { granted: string[]; at: string; grantee: Grantee },
): Promise<Failure> {
  const { kind, message, next } = toFailure(error)
  const done = granted.length === 0 ? 'nothing was granted' : `granted: ${granted.join(', ')}`
  if (message.includes('bound to another environment')) {
    const what = `${await boundWordsOf(session, grantee)}, so it cannot get the key of ${at}; ${done}`
    return new Failure(
      'conflict',
      what,
      `create a token for it with \`skerry token create <name> ${placeOptions(at)}\``,
    )
  }
  const again = message.includes('your own access ends')
    ? 'give the time with `skerry grant --for`'
    : 'run `skerry grant` again'
  return new Failure(kind, `granting ${at} failed (${message}); ${done}`, kind === 'refused' ? next : again)
}

/** Says which environment a token is bound to. */
async function boundWordsOf(session: Session, { principalId }: Grantee): Promise<string> {
  const { name, environmentId } = await findToken(session, principalId)
  const { id: orgId } = await session.org()
  const place = environmentId === null ? undefined : await findPlaceById(session, orgId, environmentId)
  return `the token ${name} is bound to ${place?.label ?? 'another environment'}`
}

/**
 * Finds a token by id or name, or a person by id or e-mail address, with the public key that the server reports. The
 * server looks up the id for a name, so call `acceptGrantees` before something is wrapped to the key.
 */
export async function lookUpGrantee(
  session: Session,
  who: { token?: string; user?: string },
): Promise<Grantee & { name: string; wantedName: string | undefined }> {
  const { id: orgId } = await session.org()
  if (who.token !== undefined) {
    const found = await findToken(session, who.token).catch((error) => suggestMember(session, error, who.token!))
    if (found.revokedAt !== null)
      throw new Failure('conflict', `the token ${found.name} is revoked`, 'create another with `skerry token create`')
    const { id, name, publicKeyJwk } = found
    const wantedName = wantedTokenName(who.token)
    return { principalType: 'service_token', principalId: id, name, wantedName, publicKeyJwk }
  }
  const { members } = await session.client.orgs.members({ params: { orgId } })
  const { user } = who
  const found = members.find(({ userId: id, email: name }) => user !== undefined && isNamed(user, 'user', { id, name }))
  if (!found && user !== undefined && (await isInvited(session, user)))
    throw new Failure('notFound', `${user} is invited and has not accepted yet`, 'see `skerry invite ls`')
  if (!found) throw noMember(who.user ?? '', members)
  if (found.publicKeyJwk === null) {
    throw new Failure('conflict', `${who.user} has no key yet`, 'they must sign in and run `skerry keys init`')
  }
  const { userId, email, publicKeyJwk } = found
  const wantedName = user !== undefined && !new RegExp(idPattern('user')).test(user) ? user : undefined
  return { principalType: 'user', principalId: userId, name: email ?? userId, wantedName, publicKeyJwk }
}

/** The error for a person who is not in the organization, with the member of the nearest address. */
export function noMember(wanted: string, members: readonly { email: string | null }[]): Failure {
  const addresses = members.map(({ email }) => email)
  const next = orNearest(wanted, addresses, 'see `skerry members ls`')
  return new Failure('notFound', `${wanted} is not a member of this organization`, next)
}

/** Suggests the member whose name, or address before the @, a user wrote where a token was looked for. */
async function suggestMember(session: Session, error: unknown, wanted: string): Promise<never> {
  const { kind, message } = toFailure(error)
  if (kind !== 'notFound') throw error
  const { id: orgId } = await session.org()
  const { members } = await session.client.orgs.members({ params: { orgId } })
  const found = members.filter(({ email, name }) => email !== null && [name, email.split('@')[0]].includes(wanted))
  if (found.length !== 1) throw error
  throw new Failure(kind, message, `did you mean ${found[0]!.email}?`)
}

/** Returns true if an invitation of this address is open. Only admins can see invitations. */
async function isInvited(session: Session, address: string): Promise<boolean> {
  const { id: orgId } = await session.org()
  const { invites } = await session.client.invites.list({ params: { orgId } }).catch((error) => {
    if (toFailure(error).kind !== 'refused') throw error
    return { invites: [] }
  })
  return invites.some(({ email }) => email.toLowerCase() === address.toLowerCase())
}
