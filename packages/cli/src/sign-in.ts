import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeBase64url } from '@skerry/crypto/base64url'
import { tokenHash } from '@skerry/crypto/digest'
import { newId, randomBytes } from '@skerry/crypto/random'
import { profileName, readCredentials, saveProfile } from './credentials.ts'
import { checkWebAddress, hasDesktop, openBrowser } from './desktop.ts'
import { Failure, toFailure } from './failure.ts'
import { openBearer, storeBearer } from './keyring/bearer.ts'
import { noteNext } from './next-step.ts'
import { note } from './output.ts'
import { connect, userAgent } from './session.ts'
import type { Settings } from './settings.ts'
import { notedTime } from './times.ts'

const pollMinSeconds = 1
const pollMaxSeconds = 30

/**
 * Signs a person in. The credential is made here, and the server gets its hash. A person who is signed in to the
 * browser approves the code that both screens show. Until then the server accepts the credential for nothing.
 */
export async function signInPerson(settings: Settings, options: { browser: boolean; profile?: string }) {
  const id = newId('cliSession')
  const bearer = `${id}_${encodeBase64url(randomBytes(32))}`
  const client = connect(settings)
  const label = `${hostname()}`.slice(0, 200) || 'a machine'
  const asked = await client.cliLogin.create({
    body: { sessionId: id, tokenHash: await tokenHash(bearer), deviceLabel: label, client: userAgent },
  })
  const address = checkWebAddress(asked.verifyUrl)
  const opens = options.browser && hasDesktop()
  note(opens ? `opening ${address} in your browser` : `open ${address}`)
  note(`and approve it there if the page shows the code ${asked.code}`)
  if (opens) await openBrowser(asked.verifyUrl)
  note(`waiting for the approval, until ${notedTime(asked.requestExpiresAt)}`)
  const expiresAt = await approved(client, { ...asked, id })
  return keep(settings, { id, bearer, expiresAt }, options.profile)
}

interface Asked {
  id: string
  code: string
  requestExpiresAt: string
  pollIntervalSeconds: number
}

/**
 * Waits until the person approves, and returns the time when the session expires. It retries while the server is
 * unavailable.
 */
async function approved(client: ReturnType<typeof connect>, asked: Asked): Promise<string> {
  const { code, id, pollIntervalSeconds } = asked
  const seconds = Math.min(Math.max(pollIntervalSeconds, pollMinSeconds), pollMaxSeconds)
  const until = Date.parse(asked.requestExpiresAt)
  while (Date.now() < until) {
    await sleep(seconds * 1000)
    const answer = await client.cliLogin.poll({ body: { code } }).catch((error) => {
      if (toFailure(error).kind !== 'unavailable') throw error
    })
    if (answer === undefined || answer.status === 'pending') continue
    if (answer.status === 'denied') throw new Failure('refused', 'the sign-in was denied')
    if (answer.status === 'expired') break
    if (answer.sessionId !== id || answer.expiresAt === undefined) {
      throw new Failure('refused', 'the server approved another session than this one')
    }
    return answer.expiresAt
  }
  throw new Failure('refused', 'nobody approved the code in time', 'run `skerry login` again')
}

async function keep(
  settings: Settings,
  { id, bearer, expiresAt }: { id: string; bearer: string; expiresAt: string },
  profile: string | undefined,
) {
  const client = connect(settings, { bearer })
  const { user, orgs } = await client.me.get()
  if (!user) throw new Failure('refused', 'the approved session does not belong to a person')
  const name = profile ?? profileName(settings.url, user.email ?? user.id)
  await endEarlier(settings, name)
  const stored = await storeBearer(name, id, bearer)
  const session = { id, userId: user.id, email: user.email, expiresAt, ...stored }
  const [only, ...more] = orgs
  const org = only && more.length === 0 ? { org: { id: only.id, slug: only.slug } } : {}
  saveProfile(name, { url: settings.url, ...org, session })
  const kept = stored.sealed === undefined ? 'in the system’s keyring' : 'encrypted in the credentials file'
  const sayNext = () => noteNext(client, settings.url)
  return { profile: name, user, orgs, sayNext, sessionId: id, expiresAt, kept }
}

/** Ends the session that the new one replaces. Its credential is overwritten here, but would still be valid. */
async function endEarlier(settings: Settings, name: string): Promise<void> {
  const earlier = readCredentials().profiles[name]?.session
  if (!earlier) return
  try {
    const client = connect(settings, { bearer: await openBearer(name, earlier) })
    await client.cliSessions.revoke({ params: { cliSessionId: earlier.id } })
  } catch {
    // The session has ended already, or will expire.
  }
}
