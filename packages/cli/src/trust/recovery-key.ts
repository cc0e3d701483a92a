import { fingerprint } from '@skerry/crypto/digest'
import type { RootBody } from '@skerry/crypto/directory/root'
import { thumbprintWords } from '@skerry/crypto/fingerprint-words'
import {
  checkRecoveryKey,
  compareRecoveryKey,
  type RecoveryKeyState,
} from '@skerry/sdk/internal/directory/recovery-key'
import { Failure, toFailure } from '../failure.ts'
import { isStrict } from '../known-state.ts'
import { note, warn } from '../output.ts'
import { wordsOf } from '../pins.ts'
import type { Session } from '../session.ts'
import { notedTime } from '../times.ts'
import { trustOf } from './reading.ts'

// The root of the signed directory names the recovery key. In an organization whose directory this machine knows, a key is
// wrapped to no other recovery key, whatever this machine remembers.

/** The name that stands for the recovery key in `skerry trust sign recovery`, and in the rows of `skerry trust status`. */
export const recoveryEntry = 'recovery'

const signCommand = '`skerry trust sign recovery`'

const check = (session: Session, orgId: string, publicKeyJwk: string | null) =>
  checkRecoveryKey(session.client, orgId, publicKeyJwk, trustOf(session, orgId, 'write'))

/**
 * Chooses the recovery key for a new key of an environment. A key that nobody has signed is left out with a warning.
 *
 * @param isNamed whether `--reader` names the recovery key. Then it is not left out: the command is refused.
 * @throws Failure if the server shows another key than the root names, and in strict mode if it shows none.
 */
export async function chooseSignedKey(
  session: Session,
  orgId: string,
  publicKeyJwk: string | null,
  isNamed: boolean,
): Promise<string | null> {
  const { state, root } = await check(session, orgId, publicKeyJwk)
  if (state === 'unsigned' && !isNamed) {
    warn('nobody has signed the recovery key of this organization: custodians cannot recover what you create')
    note(`a signer signs it with ${signCommand}; then run \`skerry recovery cover\``)
    return null
  }
  if (state === 'hidden') {
    if (isStrict()) throw hidden()
    warn(
      'the signed directory names a recovery key, but the server shows none: custodians cannot recover what you create',
    )
  }
  if (publicKeyJwk !== null) await requireSigned(state, root, publicKeyJwk)
  return publicKeyJwk
}

/** Refuses a recovery key that the newest root does not name. */
export async function requireSignedKey(session: Session, orgId: string, publicKeyJwk: string): Promise<void> {
  const { state, root } = await check(session, orgId, publicKeyJwk)
  await requireSigned(state, root, publicKeyJwk)
}

async function requireSigned(state: RecoveryKeyState, root: RootBody, publicKeyJwk: string): Promise<void> {
  if (state === 'signed') return
  if (root.recovery !== null) note(`signed: ${thumbprintWords(root.recovery)}`)
  note(`shown by the server: ${await wordsOf(publicKeyJwk)}`)
  throw state === 'unsigned'
    ? new Failure(
        'refused',
        'nobody has signed the recovery key of this organization; nothing was changed',
        `a signer compares its words with the admin who set recovery up, and runs ${signCommand}`,
      )
    : new Failure(
        'refused',
        'the server shows another recovery key than the signed directory; nothing was changed',
        `if someone on your team replaced it, a signer runs ${signCommand}; otherwise do not use this server, and tell your organization’s owner`,
      )
}

const hidden = (): Failure =>
  new Failure(
    'refused',
    'the signed directory names a recovery key, but the server shows none; nothing was changed',
    `if someone on your team ended recovery, a signer runs ${signCommand}; otherwise do not use this server`,
  )

/** Says how to sign a recovery key that was just made, if its request did not sign it. */
export async function tellUnsigned(session: Session, orgId: string, publicKeyJwk: string): Promise<void> {
  const { state, root } = await check(session, orgId, publicKeyJwk)
  if (state === 'signed') return
  if (root.threshold === 1) warn(`nobody has signed this recovery key yet: a signer runs ${signCommand}`)
  else {
    warn(`${root.threshold} people must sign this recovery key: run ${signCommand}`)
    note('give the text that it prints to the other signers, who run `skerry trust approve <file>`')
  }
  note(
    state === 'differs'
      ? 'until then, commands that make keys are refused'
      : 'until then, custodians cannot recover what is created; run `skerry recovery cover` afterwards',
  )
}

/** Says how the recovery key that the server shows relates to the signed one. Empty if it is signed. */
export async function signedDoubt(session: Session, orgId: string, publicKeyJwk: string): Promise<string> {
  const { state } = await check(session, orgId, publicKeyJwk)
  if (state === 'signed') return ''
  return state === 'unsigned' ? 'nobody has signed it' : 'not the one in the signed directory'
}

/** The recovery key that the server shows, beside a root. */
export interface ComparedRecovery {
  state: RecoveryKeyState
  /** The thumbprints of the signed key and of the shown key. */
  signed: string | null
  shown: string | null
  publicKeyJwk: string | null
}

/** Compares the recovery key that the server shows with a verified root. */
export async function compareRecovery(
  { client }: Session,
  orgId: string,
  root: Pick<RootBody, 'recovery'>,
): Promise<ComparedRecovery> {
  const { recoveryPublicKeyJwk: publicKeyJwk } = await client.recovery.publicKey({ params: { orgId } })
  return {
    state: await compareRecoveryKey(root, publicKeyJwk),
    signed: root.recovery,
    shown: publicKeyJwk === null ? null : await fingerprint(publicKeyJwk),
    publicKeyJwk,
  }
}

export const isSignedRecovery = ({ state }: ComparedRecovery): boolean => state === 'none' || state === 'signed'

const kinds = { unsigned: 'added', differs: 'changed', hidden: 'ended' } as const
const lines = {
  unsigned: 'recovery key: new',
  differs: 'recovery key: replaced',
  hidden: 'recovery key: ended, the server shows none',
} as const

/** The row of a recovery key that is not as it was signed, like those of entries. */
export function recoveryRow({ state }: ComparedRecovery) {
  if (state === 'none' || state === 'signed') return []
  return [{ key: recoveryEntry, change: kinds[state], text: lines[state], signable: true }]
}

/** The line of `skerry trust status`. */
export function recoveryLine({ state, signed, shown }: ComparedRecovery): string {
  if (state === 'none') return 'recovery key: none'
  if (state === 'signed') return `recovery key: signed, ${thumbprintWords(signed!)}`
  if (state === 'hidden') return `recovery key: the server shows none; signed: ${thumbprintWords(signed!)}`
  return state === 'unsigned'
    ? `recovery key: not signed, ${thumbprintWords(shown!)}`
    : `recovery key: the server shows another one, ${thumbprintWords(shown!)}; signed: ${thumbprintWords(signed!)}`
}

/** Shows a recovery key before it is signed: its words, and who made it. */
export async function showRecovery(session: Session, orgId: string, recovery: ComparedRecovery): Promise<void> {
  const { state, signed, shown } = recovery
  for (const { text } of recoveryRow(recovery)) note(text)
  if (signed !== null) note(`  signed: ${thumbprintWords(signed)}`)
  if (shown !== null) note(`  shown by the server: ${thumbprintWords(shown)}`)
  const maker = await findMaker(session, orgId, state === 'hidden').catch((error) => {
    if (toFailure(error).kind !== 'refused') throw error
  })
  if (maker !== undefined) note(`  the server says that ${maker}`)
  if (shown !== null) note('compare these words with the admin who set recovery up, and not through this server')
}

/**
 * Shows the recovery key that another signer's root names. A root that names another key than the server shows is refused,
 * because nothing could be wrapped to its key.
 *
 * @returns the public key; null if the root ends recovery.
 */
export async function showNamedRecovery(
  session: Session,
  orgId: string,
  { signed, named }: { signed: string | null; named: string | null },
): Promise<string | null> {
  const compared = await compareRecovery(session, orgId, { recovery: signed })
  if (compared.shown === named) {
    await showRecovery(session, orgId, compared)
    return compared.publicKeyJwk
  }
  for (const [label, kid] of [
    ['this root names', named],
    ['shown by the server', compared.shown],
  ] as const)
    note(`recovery key that ${label}: ${kid === null ? 'none' : thumbprintWords(kid)}`)
  throw new Failure(
    'refused',
    'this root names another recovery key than the server shows; nothing was signed',
    `ask a signer to run ${signCommand} again, and send you the new text`,
  )
}

const verbs: Readonly<Record<string, string>> = {
  'recovery.enabled': 'set recovery up',
  'recovery.rotated': 'replaced the key',
  'recovery.disabled': 'ended recovery',
}

/** The newest entry of the audit log about the key, in words. */
async function findMaker({ client }: Session, orgId: string, hasEnded: boolean): Promise<string | undefined> {
  const query = { resourceType: 'recovery', limit: 20 } as const
  const { entries, names } = await client.audit.list({ params: { orgId }, query })
  const found = entries.find(({ action }) => Object.hasOwn(verbs, action) && hasEnded === action.endsWith('disabled'))
  if (!found) return undefined
  const who = found.actorId === null ? 'someone' : (names[found.actorId] ?? found.actorId)
  return `${who} ${verbs[found.action]} at ${notedTime(found.createdAt)}`
}
