import { RollbackError } from '@skerry/sdk/rollback'
import { Failure, toFailure } from './failure.ts'
import { placeOptions, trustHint } from './labels.ts'
import type { Session } from './session.ts'
import { listTokens } from './tokens/find.ts'

/** The credential has no key to an environment. */
export class NoKeyFailure extends Failure {}

/** Explains why there is no key: none was granted, or the key has changed since this machine last used it. */
export async function keyFailure(error: unknown, session: Session, label: string): Promise<unknown> {
  if ((error as { code?: unknown }).code === 'forbidden') return noKey(session, label)
  // The original error names the environment by its id. This one uses its label.
  if (!(error instanceof RollbackError) || error.changes.some(({ kind }) => kind !== 'key_changed')) return error
  return new Failure(
    toFailure(error).kind,
    `the key of ${label} has changed since this machine last used it`,
    trustHint(label),
  )
}

/** The error for an environment that the caller cannot read. It has the command with which an admin grants the key. */
export async function noKey(session: Session, label: string): Promise<Failure> {
  const name = await granteeName(session)
  const who = session.principal.type === 'user' ? `you (${name}) do` : `the token ${name} does`
  return new NoKeyFailure('refused', `${who} not have the key of ${label}`, await grantHint(session, label))
}

export async function grantHint(session: Session, label: string): Promise<string> {
  return `an admin who can read it must run \`skerry grant ${await granteeName(session)} ${placeOptions(label)}\``
}

/** Whether the server refused a request because the caller holds no key of an environment. */
export const lacksKey = (error: unknown): boolean => {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return code === 'forbidden' && typeof message === 'string' && message.includes('you hold no key grant on')
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
