import { limits } from '@skerry/contract/limits'
import type { Bytes } from '@skerry/crypto/base64url'
import { fingerprint } from '@skerry/crypto/digest'
import { environmentKeyCommitment, managedKeyCommitment } from '@skerry/crypto/directory/commitments'
import { unwrapKey } from '@skerry/crypto/wrap'
import type { Client } from '@skerry/sdk/client'
import { type Signatory, signingClient, signNow } from '@skerry/sdk/internal/directory/client'
import type { Principal, SignerContext } from '@skerry/sdk/internal/directory/draft'
import { setKey } from '@skerry/sdk/internal/directory/edit-steps'
import type { SignedDirectory } from '@skerry/sdk/internal/directory/open'
import type { Trust } from '@skerry/sdk/internal/directory/signing'
import { entryNames, entryWords, signedParts, signersLine } from '@skerry/sdk/internal/directory/words'
import { rememberDirectory } from '../known-directories.ts'
import { note, warn } from '../output.ts'
import { isSameName, knownHolder, noteListed } from '../pins.ts'
import { ownPublicKey, type Session } from '../session.ts'
import { isNamedSigner, openKnown, openKnownDocuments } from './open.ts'

// The signer behind the client of a session. Every command that changes an entry signs it through here.

/** The client that signs the changes of a session, if the caller is a signer. `client` is the one that only sends. */
export function signedClient(client: Client, session: Session): Client {
  const found = new Map<string, Promise<Signatory | null>>()
  return signingClient(client, (orgId) => {
    const known = found.get(orgId) ?? findSignatory({ ...session, client }, orgId)
    found.set(orgId, known)
    return known
  })
}

/**
 * Signs the key of an environment that was re-keyed with the approval of others. The caller has compared the new key and its
 * readers. Returns false if the caller does not sign the directory.
 */
export async function signApprovedKey(
  session: Session,
  { orgId, envId }: { orgId: string; envId: string },
  key: Bytes,
  readers: readonly Principal[],
): Promise<boolean> {
  const signatory = await findSignatory(session, orgId)
  if (signatory === null) return false
  await signNow(signatory, async (draft) => {
    const entry = draft.environmentKey(envId)
    if (entry !== undefined) await setKey(draft, entry, (id) => environmentKeyCommitment(id, key), readers)
  })
  return true
}

async function findSignatory(session: Session, orgId: string): Promise<Signatory | null> {
  const { root } = await openKnownDocuments(session, orgId)
  const signer = isNamedSigner(session, root) ? await session.signer() : null
  if (signer === null || !root.body.signers.some(({ kid }) => kid === signer.kid)) {
    note(
      'you do not sign the directory of this organization: a signer has to run `skerry trust sign` after this change',
    )
    return null
  }
  const directory = await openKnown(session, orgId)
  const { client } = session
  return {
    client,
    orgId,
    directory,
    signer,
    context: await contextOf(session, orgId, signer),
    remember: ({ known }) => rememberDirectory(session.settings.url, orgId, known),
    onOthers: tellOthers,
    onSigned: ({ before, step, draft }) => {
      noteListed(session, orgId, listedIds(step.trust))
      const nameOf = entryNames({ entries: new Map([...before.entries, ...step.next.entries]) })
      const lines = step.trust.entries.map(({ key }) => {
        const [old, next] = [before.entries.get(key), step.next.entries.get(key)]
        return `${entryWords(key, nameOf)}: ${signedParts(old, next, draft.readerChanges.get(key), nameOf).join(', ')}`
      })
      if (step.trust.root !== undefined)
        lines.unshift(signersLine(`root ${step.next.root.body.version}`, before, step.next, nameOf))
      note(`signed ${shortList(lines)} (head ${step.next.head.body.version})`)
    },
    onUnsigned: (keys, reason) => {
      const names = keys.map((key) => entryWords(key, entryNames(directory)))
      const why = reason === undefined ? '' : ` (${reason})`
      warn(`not signed: ${shortList(names) || 'this change'}${why}; read and sign it with \`skerry trust sign\``)
    },
  }
}

/** The ids of the people and tokens whose entries were signed. */
const listedIds = ({ entries }: Trust): string[] =>
  entries.flatMap(({ key, text }) =>
    text !== null && /^(?:person|token)\//.test(key) ? [key.slice(key.indexOf('/') + 1)] : [],
  )

/** The part of a signer's client that knows the keys of this machine. */
export async function contextOf(
  session: Session,
  orgId: string,
  signer: SignerContext['signer'],
): Promise<SignerContext> {
  const { client, principal } = session
  return {
    client,
    orgId,
    signer,
    own: ownEntryKey(session),
    ownKid: await fingerprint(await ownPublicKey(session)),
    commitments: {
      environment: async (id, blob) => environmentKeyCommitment(id, await unwrapKey(blob, await session.key())),
      managed: async (id, version, blob) =>
        managedKeyCommitment(id, version, await unwrapKey(blob, await session.key())),
    },
    vouch: async (key, { kid, email, name = email }) => {
      const id = key.slice(key.indexOf('/') + 1)
      const known = id === principal.id ? undefined : knownHolder(session, orgId, id)
      // A signer has ended the entry of a key that was listed before.
      if (known === undefined || known.wasListed || (await fingerprint(known.publicKeyJwk)) !== kid) return false
      return name === undefined || isSameName(id, known.name, name)
    },
  }
}

export const ownEntryKey = ({ principal: { type, id } }: Session): string =>
  `${type === 'user' ? 'person' : 'token'}/${id}`

const shownMax = 5

/** A list for one line. */
export const shortList = (all: readonly string[]): string =>
  all.length <= shownMax ? all.join('; ') : `${all.slice(0, shownMax).join('; ')}; and ${all.length - shownMax} more`

function tellOthers(before: SignedDirectory, now: SignedDirectory): void {
  const nameOf = entryNames({ entries: new Map([...before.entries, ...now.entries]) })
  const keys = [...new Set([...before.entries.keys(), ...now.entries.keys()])].filter(
    (key) => JSON.stringify(before.entries.get(key)) !== JSON.stringify(now.entries.get(key)),
  )
  const names = keys.slice(0, limits.directoryProofsMax).map((key) => entryWords(key, nameOf))
  note(`someone else signed in the meantime (head ${now.head.body.version}): ${shortList(names) || 'no entry changed'}`)
}
