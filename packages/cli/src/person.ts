import type { Client } from '@skerry/sdk/client'
import { hexSha256 } from '@skerry/sdk/internal/sealed-copy'
import type { PersonSession } from './credentials.ts'
import { Failure } from './failure.ts'
import { recall, remember } from './id-cache.ts'
import { openBearer } from './keyring/bearer.ts'
import type { Settings } from './settings.ts'
import { notedTime } from './times.ts'

/**
 * Whether a credential is a person's: a CLI session (`skc_...`), or a session token of the browser sign-in (a JWT). It
 * proves who someone is and contains no key, because the key is in the person's keyring.
 */
export const isPersonBearer = (bearer: string) =>
  /^skc_[0-9A-Za-z]{22}_[A-Za-z0-9_-]{43}$/.test(bearer) || /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(bearer)

/** Returns the person of a credential: from the stored session, or from one request to the server. */
export async function personOf(
  { url }: Pick<Settings, 'url'>,
  client: Client,
  bearer: string,
  session: PersonSession | undefined,
): Promise<{ id: string; email: string | null }> {
  if (session) return { id: session.userId, email: session.email }
  const key = `person ${url} ${(await hexSha256(bearer)).slice(0, 32)}`
  const [id, email] = recall(key)?.split(' ') ?? []
  if (id) return { id, email: email || null }
  const { user } = await client.me.get()
  if (!user)
    throw new Failure('refused', 'this credential does not belong to a person', 'sign in again with `skerry login`')
  remember(key, `${user.id} ${user.email ?? ''}`)
  return { id: user.id, email: user.email }
}

/** Returns the bearer of a stored session, unless the session has expired. */
export async function bearerOf(profile: string, session: PersonSession): Promise<string> {
  if (Date.parse(session.expiresAt) <= Date.now()) {
    throw new Failure(
      'refused',
      `your session ended on ${notedTime(session.expiresAt)}`,
      'sign in again with `skerry login`',
    )
  }
  return openBearer(profile, session)
}
