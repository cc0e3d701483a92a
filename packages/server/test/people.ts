import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { ownIssuer } from '../src/identity/session-tokens.ts'
import { newId } from '../src/kernel/context.ts'
import { signInAt } from './services/browser.ts'
import { until } from './until.ts'
import type { World } from './world.ts'

/** The header that browsers add to a request from a page of this server. */
export const fromOwnPage = { 'sec-fetch-site': 'same-origin' }

/** A person who is signed in to a browser with the built-in sign-in. */
export interface SignedInBrowser {
  as: string
  sessionId: string
  /** The refresh cookie, as a browser sends it back. */
  cookie: string
}

/** `name=value` of the cookie that an answer sets. */
export const cookieOf = (headers: Headers): string => (headers.getSetCookie()[0] ?? '').split(';')[0] as string

export function browserOf(answer: { body: { session: { id: string; token: string } }; headers: Headers }) {
  const { id, token } = answer.body.session
  return { as: `Bearer ${token}`, sessionId: id, cookie: cookieOf(answer.headers) }
}

/** Signs in a person, new or known, with the sign-in of this world. Returns their Authorization header. */
export async function signInAs(world: World, email: string): Promise<string> {
  if (world.provider) return `Bearer ${(await signInAt(world.provider.url, email)).accessToken}`
  if (world.server.context.oidc)
    return `Bearer ${await world.issuer.token({ sub: `sub-${email}`, email, email_verified: true })}`
  // The server mails links only to known or invited people, so the person is inserted first. The attempts are deleted,
  // because a suite may sign someone in more often than a mailbox may get links.
  await world.server.context.db.rows('delete from attempts')
  await world.server.context.db.rows(
    `insert into users (id, issuer, subject, email, created_at) values ($1, $2, $3, $3, $4) on conflict do nothing`,
    [newId('user'), ownIssuer, email.toLowerCase(), world.clock.now()],
  )
  return (await signInByLink(world, email)).as
}

/** Signs in the first person with the set-up link of the console. They become the owner of an organization. */
export async function setUp(world: World, email = 'first@example.com', orgSlug = 'first'): Promise<SignedInBrowser> {
  const token = world.server.setUpLink?.split('#')[1] as string
  const answer = await world.call(signIn.setUp, {
    body: { token, email, name: 'First', orgName: 'First', orgSlug },
  })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return browserOf(answer)
}

/** Signs in a person with a mailed link. They must be a user or invited. */
export async function signInByLink(world: World, email: string): Promise<SignedInBrowser> {
  const answer = await world.call(signIn.redeemLink, { body: { token: await mailedToken(world, email) } })
  if (answer.status !== 200) throw new Error(answer.error?.message)
  return browserOf(answer)
}

/** Requests a sign-in link and returns the token in the mail. */
export async function mailedToken(world: World, email: string, body: object = {}): Promise<string> {
  return tokenOf(world, email, 'Sign in to Skerry', async () => {
    const { error } = await world.call(signIn.requestLink, { body: { email, ...body } })
    if (error) throw new Error(error.message)
  })
}

/** Returns the token in the mail that `cause` makes the server send to this address with this subject. */
export async function tokenOf(world: World, email: string, subject: string, cause: () => Promise<unknown>) {
  const before = new Set(await outbox(world))
  await cause()
  return until(`a mail to ${email}`, async () => {
    for (const name of await outbox(world)) {
      if (before.has(name)) continue
      const mail = await readMail(world, name)
      const token = /\/sign-in\/(?:link|identity)#([\w-]{43})\s/.exec(mail)?.[1]
      const isMeant = mail.includes(`To: ${email.toLowerCase()}\n`) && mail.includes(`Subject: ${subject}`)
      if (token !== undefined && isMeant) return token
    }
    return undefined
  })
}

const folderOf = (world: World) => join(world.server.context.config.dataDir, 'outbox')
export const outbox = (world: World): Promise<string[]> => readdir(folderOf(world)).catch(() => [])

export const readMail = (world: World, name: string): Promise<string> => readFile(join(folderOf(world), name), 'utf8')
