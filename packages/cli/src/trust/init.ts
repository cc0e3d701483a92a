import { fingerprint } from '@skerry/crypto/digest'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import type { RootDraft, RootSigner } from '@skerry/crypto/directory/root'
import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import { compareClaims, type Difference } from '@skerry/sdk/internal/directory/differences'
import { fetchClaims } from '@skerry/sdk/internal/directory/open'
import { firstSteps } from '@skerry/sdk/internal/directory/signing'
import { differenceLine, entryNames, entryWords } from '@skerry/sdk/internal/directory/words'
import { Failure } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { rememberDirectory } from '../known-directories.ts'
import { findPin } from '../known-keys.ts'
import { note, type Output, warn, writeLine } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { confirmRecoveryKey, keepRecoveryKey, recoveryName } from '../recovery/key.ts'
import { ownPublicKey, type Session } from '../session.ts'
import type { Confirmable } from '../settings.ts'
import { keyOpener } from './key-opener.ts'
import { writePin } from './pin.ts'
import { noKeys, requireRemembered } from './remembered.ts'
import { acceptHolders, requireKeysOfReaders } from './vouching.ts'

/** Signs the first root and an entry for everything that exists. */
export async function init({ session, flags, org, orgId }: InOrg<Confirmable & ReaderFlags>): Promise<Output> {
  if (session.principal.type !== 'user')
    throw new Failure(
      'refused',
      'a token cannot start the signed directory, because its first signer is a person',
      'sign in with `skerry login`, and run `skerry trust init` again',
    )
  await refuseSecond(session, orgId)
  const signer = await ownSigner(session)
  const claims = await fetchClaims(session.client, orgId)
  const opened = noKeys()
  const differences = await compareClaims(new Map(), claims, keyOpener(session, orgId, opened))
  const nameOf = entryNames(null, claims)
  const signable = differences.filter(({ next }) => next !== undefined)
  const closed = differences.filter(({ next }) => next === undefined)
  for (const { key } of closed)
    warn(`${entryWords(key, nameOf)} gets no entry, because you do not hold its key: another signer has to sign it`)
  for (const one of signable) note(differenceLine(one, nameOf))
  await requireRemembered(session, orgId, signable, opened)
  const { recoveryPublicKeyJwk } = await session.client.recovery.publicKey({ params: { orgId } })
  const recoveryKey = recoveryPublicKeyJwk ?? undefined
  const keepHolders = await acceptHolders(session, orgId, signable, { flags, recoveryPublicKeyJwk: recoveryKey })
  requireKeysOfReaders(new Map(), signable, nameOf)
  const recovery = await acceptRecovery(session, recoveryKey, flags)
  note(`one signer alone is a risk: who steals your key controls the directory, and if you lose it nobody can sign`)
  note('add others with `skerry trust signers add`, and make rescue codes with `skerry trust rescue setup`')
  await confirmOrRefuse(`signs ${countsOf(signable)} of ${org.slug}`, flags)

  const draft: RootDraft = {
    threshold: 1,
    signers: [await rootSigner(session, signer)],
    rescue: null,
    recovery: recovery.kid,
    minimum: { wrap: 'wd1', token: 'classic' },
  }
  const entries = signable.map(({ key, next }) => ({ key, value: next }) as DirectoryEntry)
  const steps = await firstSteps(orgId, draft, entries, [signer])
  for (const { trust, next } of steps) {
    await session.client.directory.put({ params: { orgId }, body: trust })
    rememberDirectory(session.settings.url, orgId, next.known)
  }
  keepHolders()
  await recovery.keep()
  const { root, head } = steps.at(-1)!.next
  return {
    json: { pin: root.hash, head: head.body.version, entries: entries.length, unsigned: closed.map(({ key }) => key) },
    text: () => writeLine(root.hash),
    after: () => {
      note(`started the signed directory of ${org.slug}, with ${countsOf(signable)}`)
      note('this is its pin: give it to colleagues and to CI. `skerry trust pin` prints it again')
      writePin(session, root.hash)
    },
  }
}

async function refuseSecond(session: Session, orgId: string): Promise<void> {
  const { directory } = await session.client.directory.get({ params: { orgId } })
  if (directory === null) return
  throw new Failure(
    'conflict',
    'this organization has a signed directory already',
    'see `skerry trust status`; `skerry trust pin <pin>` makes it known on this machine',
  )
}

/** The signing key of the caller. A classic token has none. */
export async function ownSigner(session: Session): Promise<DirectorySigner> {
  const signer = await session.signer()
  if (signer) return signer
  throw new Failure(
    'refused',
    'a token of the classic format cannot sign, because the server has seen its key',
    'sign in as a person with `skerry login`, or use a token of the format skerry',
  )
}

/** The caller as a root names them. People sign policies of agents with the key that others wrap to. */
export async function rootSigner(session: Session, { kid, jwk }: DirectorySigner): Promise<RootSigner> {
  const { type, id } = session.principal
  const key = { kid, alg: 'ES256', jwk } as const
  if (type === 'service_token') return { ...key, policyKid: null, token: id }
  return { ...key, policyKid: await fingerprint(await ownPublicKey(session)), person: id }
}

async function acceptRecovery(session: Session, jwk: string | undefined, { reader = [] }: ReaderFlags) {
  if (jwk === undefined) {
    const { id: orgId } = await session.org()
    if (findPin(session, orgId, recoveryName))
      warn('this machine knows a recovery key, but the server shows none: the signed directory would name none')
    return { kid: null, keep: async () => {} }
  }
  const isNew = await confirmRecoveryKey(session, jwk, reader.includes(recoveryName))
  return { kid: await fingerprint(jwk), keep: async () => (isNew ? keepRecoveryKey(session, jwk) : undefined) }
}

const kinds = [
  ['person', 'person', 'people'],
  ['token', 'token', 'tokens'],
  ['worker', 'worker', 'workers'],
  ['environment', 'environment', 'environments'],
  ['key', 'managed key', 'managed keys'],
] as const

/** `2 people, 1 token and 3 environments`. */
function countsOf(all: readonly Pick<Difference, 'key'>[]): string {
  const parts = kinds.flatMap(([kind, one, several]) => {
    const count = all.filter(({ key }) => key.startsWith(`${kind}/`)).length
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`]
  })
  if (parts.length === 0) return 'no entry'
  return parts.length === 1 ? parts[0]! : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
