import type { KmsSpec } from '@skerry/contract/kms/specs'
import { idPrefixes, isNamed } from '@skerry/contract/prefixes'
import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { createManagedKey, type ManagedKey, rotateManagedKey } from '@skerry/sdk/internal/kms'
import type { Grantee } from '@skerry/sdk/secrets'
import { openDirectory } from '../directory.ts'
import { Failure, usage } from '../failure.ts'
import type { InOrg, SignedIn } from '../frame.ts'
import { lookUpGrantee, noMember } from '../grants.ts'
import { type Holder, type HolderFlags, holderOf } from '../holder.ts'
import { checkHolder } from '../known-holders.ts'
import { forgetReader, noteReaders } from '../known-readers.ts'
import { checkTokenId } from '../names.ts'
import { note, type Output, warn, writeTable } from '../output.ts'
import { findApp, findGroup } from '../places.ts'
import { typeName } from '../principals.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { acceptGrantees, acceptReaders } from '../readers.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { findToken } from '../tokens/find.ts'
import { typedHolder, typedKey } from '../typed-names.ts'
import { findKey, listKeys, lookUp, openKey } from './find.ts'
import { checkVersions, forget, remember } from './pins.ts'

type HolderOptions = Confirmable & HolderFlags

export const parseHolder = (flags: HolderOptions, _key: string, holder: string | undefined): Holder =>
  holderOf(holder, flags)

export async function create(
  name: string,
  { session, flags, orgId }: InOrg<Flags & { spec: KmsSpec; forApp?: string; forGroup?: string }>,
): Promise<Output> {
  const applicationId = flags.forApp === undefined ? undefined : (await findApp(session, flags.forApp)).id
  const groupId = flags.forGroup === undefined ? undefined : (await findGroup(session, flags.forGroup)).id
  const grantees = [await oneself(session)]
  const { key, shown } = await createManagedKey(session.client, {
    orgId,
    name,
    spec: flags.spec,
    applicationId,
    groupId,
    grantees,
  })
  // A deleted key may have had this name. From now on, the name means the new key.
  forget(session, orgId, key)
  remember(session, orgId, key, { shown: [shown], currentVersion: key.currentVersion })
  return {
    json: { key },
    after: () =>
      note(
        `created managed key ${key.name}; only this credential can use it until you share it with \`skerry kms grant ${key.name}\``,
      ),
  }
}

export function checkCreate(flags: Flags & { spec: KmsSpec; forApp?: string; forGroup?: string }): void {
  if (flags.forApp !== undefined && flags.forGroup !== undefined)
    throw usage('--for-app and --for-group cannot be used together')
}

async function oneself(session: Session): Promise<Grantee> {
  const { type: principalType, id: principalId } = session.principal
  return { principalType, principalId, publicKeyJwk: publicKeyJwkOf(await session.key()) }
}

export async function list({ session }: SignedIn): Promise<Output> {
  const { keys } = await listKeys(session)
  return {
    json: { keys },
    text: () =>
      writeTable(
        ['id', 'name', 'spec', 'version', 'state', 'created'],
        keys.map((one) => [
          one.id,
          one.name,
          one.spec,
          String(one.currentVersion),
          stateOf(one),
          shownTime(one.createdAt),
        ]),
        'no managed keys yet; create one with `skerry kms create <name>`',
      ),
  }
}

const stateOf = ({ disabled }: ManagedKey) => (disabled ? 'disabled' : 'enabled')

export async function show(wanted: string, { session }: SignedIn): Promise<Output> {
  const { orgId, key } = await findKey(session, wanted)
  const params = { orgId, kmsKeyId: key.id }
  const [{ versions }, { grants }] = await Promise.all([
    session.client.kms.get({ params }),
    session.client.kms.grants({ params }),
  ])
  return {
    json: { key, versions, grants },
    text: async () => {
      writeTable(
        ['id', 'name', 'spec', 'version', 'state'],
        [[key.id, key.name, key.spec, String(key.currentVersion), stateOf(key)]],
      )
      const nameOf = await openDirectory(
        session,
        grants.map(({ principalId }) => principalId),
      )
      writeTable(
        ['holder', 'type', 'versions'],
        grants.map((one) => [
          nameOf(one.principalId) ?? one.principalId,
          typeName(one.principalType),
          one.versions.join(', '),
        ]),
      )
    },
  }
}

export async function grant(
  wanted: string,
  _holder: string | undefined,
  { session, flags, input }: SignedIn<HolderOptions & ReaderFlags, typeof parseHolder>,
): Promise<Output> {
  const { name, wantedName, ...grantee } = await lookUpGrantee(session, input)
  const { key, opened } = await openKey(session, wanted)
  const what = `the managed key ${key.name}`
  const keep = await acceptGrantees(session, { what, grantees: [{ ...grantee, name, wantedName }] }, flags)
  keep()
  await opened.grantTo(grantee)
  await noteReaders(session, { orgId: (await session.org()).id, id: key.id }, [grantee])
  const { principalType, principalId } = grantee
  note(
    `granted version ${opened.currentVersion} of ${key.name} to ${name}${opened.currentVersion > 1 ? ', and no earlier version' : ''}`,
  )
  return { json: { granted: { keyId: key.id, version: opened.currentVersion, principalType, principalId } } }
}

export async function revoke(
  wanted: string,
  _holder: string | undefined,
  { session, flags, input: named }: SignedIn<HolderOptions, typeof parseHolder>,
): Promise<Output> {
  const { orgId, key } = await findKey(session, wanted)
  const holder =
    'token' in named
      ? { principalType: 'service_token' as const, principalId: await tokenIdOf(session, named.token) }
      : await personOf(session, orgId, named.user)
  const wantedHolder = 'token' in named ? named.token : named.user
  await checkHolder(session, orgId, holder.principalId, wantedHolder)
  const name = (await openDirectory(session, [holder.principalId]))(holder.principalId) ?? holder.principalId
  await confirmOrRefuse(
    `takes managed key ${key.name} from ${name}, who then cannot use it; \`skerry kms grant\` would give it back`,
    flags,
  )
  const { typed } = typedHolder(wantedHolder)
  await session.client.kms.revoke(
    { params: { orgId, kmsKeyId: key.id }, query: holder },
    { typed: { ...typed, ...typedKey(wanted).typed } },
  )
  forgetReader(session, orgId, holder.principalId, key.id)
  note(
    `revoked ${key.name} from ${name}, who may have kept a copy; \`skerry kms rotate ${key.name}\` adds a version that they do not have`,
  )
  return { json: { revoked: { keyId: key.id, ...holder } } }
}

/** An id needs no look-up, because the grant of a deleted token may still exist. */
const tokenIdOf = async (session: Session, named: string): Promise<string> =>
  named.startsWith(idPrefixes.serviceToken) ? checkTokenId(named) : (await findToken(session, named)).id

async function personOf(session: Session, orgId: string, named: string) {
  const { members } = await session.client.orgs.members({ params: { orgId } })
  const found = members.find(({ userId: id, email: name }) => isNamed(named, 'user', { id, name }))
  if (!found) throw noMember(named, members)
  return { principalType: 'user' as const, principalId: found.userId }
}

/** Adds a version and gives it to every current holder who can still open it. */
export async function rotate(wanted: string, { session, flags }: SignedIn<Confirmable & ReaderFlags>): Promise<Output> {
  const { orgId, key } = await findKey(session, wanted)
  // A rotation opens no version, so the name and the newest version are all that can be compared.
  await checkVersions(session, orgId, key, wanted)([], key.currentVersion, [])
  const { grants } = await session.client.kms.grants({ params: { orgId, kmsKeyId: key.id } })
  const { usable, gone } = await keysOf(session, orgId, grants)
  const nameOf = await openDirectory(
    session,
    grants.map(({ principalId }) => principalId),
  )
  const named = usable.map(({ principalId }) => nameOf(principalId) ?? principalId)
  for (const id of gone)
    warn(`${nameOf(id) ?? id} cannot get the new version, because it is revoked, expired or has no key`)
  if (usable.length === 0) throw new Failure('conflict', `nobody could hold the new version of ${key.name}`)
  const receivers = { orgId, id: key.id, what: `the next version of managed key ${key.name}`, readers: usable }
  const { keep } = await acceptReaders(session, { receivers }, flags)
  await confirmOrRefuse(`adds a version to ${key.name} and gives it to ${named.join(', ')}`, flags)
  await keep()
  const rotated = await rotateManagedKey(session.client, { orgId, key, grantees: usable })
  remember(session, orgId, key, { shown: [rotated.shown], currentVersion: rotated.key.currentVersion })
  note(`version ${rotated.key.currentVersion} of ${key.name} is the current one, held by ${named.join(', ')}`)
  return { json: { key: rotated.key, holders: usable.map(({ principalId }) => principalId), gone } }
}

/** Holders with the public keys that the server has on record. */
async function keysOf(
  session: Session,
  orgId: string,
  holders: readonly { principalType: string; principalId: string }[],
) {
  const [{ members }, { tokens }] = await Promise.all([
    session.client.orgs.members({ params: { orgId } }),
    session.client.tokens.list({ params: { orgId } }),
  ])
  const usable: (Grantee & { name: string | null })[] = []
  for (const { principalId } of holders) {
    const person = members.find(({ userId }) => userId === principalId)
    if (person?.publicKeyJwk)
      usable.push({ principalType: 'user', principalId, name: person.email, publicKeyJwk: person.publicKeyJwk })
    const token = tokens.find(({ id }) => id === principalId)
    const ended = token?.expiresAt != null && Date.parse(token.expiresAt) <= Date.now()
    if (token && token.revokedAt === null && !ended)
      usable.push({ principalType: 'service_token', principalId, name: null, publicKeyJwk: token.publicKeyJwk })
  }
  const gone = holders
    .map((one) => one.principalId)
    .filter((id) => !usable.some(({ principalId }) => principalId === id))
  return { usable, gone }
}

export async function disable(wanted: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { orgId, key } = await findKey(session, wanted)
  await confirmOrRefuse(`disables managed key ${key.name}, so nobody can use it`, flags)
  const answer = await session.client.kms.disable({ params: { orgId, kmsKeyId: key.id } })
  note(`disabled ${key.name}; \`skerry kms enable ${key.name}\` lets it be used again`)
  return { json: { key: answer.key } }
}

export async function enable(wanted: string, { session }: SignedIn): Promise<Output> {
  const { orgId, key } = await findKey(session, wanted)
  const answer = await session.client.kms.enable({ params: { orgId, kmsKeyId: key.id } })
  note(`enabled ${key.name}`)
  return { json: { key: answer.key } }
}

export async function remove(wanted: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { orgId, key } = await findKey(session, wanted)
  await confirmOrRefuse(`deletes managed key ${key.name}, so nobody can ever decrypt its ciphertext again`, flags)
  await session.client.kms.delete({ params: { orgId, kmsKeyId: key.id } }, typedKey(wanted))
  forget(session, orgId, key)
  note(`deleted managed key ${key.name}`)
  return { json: { deleted: key.id } }
}

export async function trust(wanted: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { orgId, key } = await lookUp(session, wanted)
  await confirmOrRefuse(`accepts managed key ${key.name} as the server shows it now`, flags)
  forget(session, orgId, key)
  note(`accepted ${key.name}; this machine remembers the key at its next use`)
  return { json: { trusted: key.id } }
}
