import type { ElementHandle, Page } from 'playwright-core'
import type { Site } from '../config/site.ts'
import { fail } from '../http/refusal.ts'

export type Field = 'username' | 'password' | 'totp'

/** The content of the slot `login`, as JSON. */
interface Login {
  username: string
  password: string
  totpSecret?: string
}

/** Selectors for the fields of usual sign-in pages. A profile can override them. The first visible match is used. */
const usual: Readonly<Record<Field, string>> = {
  username: [
    'input[autocomplete~="username"]',
    'input[type="email"]',
    'input[autocomplete~="email"]',
    'input[name*="user" i]',
    'input[name*="login" i]',
    'input[name*="email" i]',
    'input[id*="user" i]',
  ].join(),
  password: 'input[type="password"]',
  totp: [
    'input[autocomplete~="one-time-code"]',
    'input[name*="otp" i]',
    'input[name*="code" i]',
    'input[id*="otp" i]',
    'input[inputmode="numeric"]',
  ].join(),
}

const fillMs = 30_000

/**
 * Fills a field of the sign-in page. The value goes only from here into the page.
 *
 * @throws VaultRefusal `not_allowed` on any other page, `conflict` if the page shows no such field.
 */
export async function fillIn(page: Page, site: Site, field: Field, read: () => Promise<string>): Promise<void> {
  checkOrigin(page, site)
  const found = await visibleField(page, site.fields[field] ?? usual[field])
  if (!found) throw fail('conflict', `the page has no field for ${field}`)
  const value = await read()
  // The element belongs to one document. If the page has left that document meanwhile, nothing is filled in.
  checkOrigin(page, site)
  try {
    await found.fill(value, { timeout: fillMs })
  } catch {
    // The message of the failure repeats the value.
    throw fail('conflict', `the field for ${field} could not be filled in`)
  }
}

function checkOrigin(page: Page, { loginOrigins }: Site): void {
  const { origin } = URL.parse(page.url()) ?? { origin: 'null' }
  if (!loginOrigins.includes(origin)) throw fail('not_allowed', `${origin} is not the sign-in address of this site`)
}

async function visibleField(page: Page, selector: string): Promise<ElementHandle | undefined> {
  const all = await page.$$(selector).catch(() => [])
  for (const one of all) if (await one.isVisible()) return one
  return undefined
}

/** @throws VaultRefusal `conflict` if the login has no key for one-time codes. */
export async function valueFor(text: string, field: Field, now: Date): Promise<string> {
  const { username, password, totpSecret } = JSON.parse(text) as Login
  if (field !== 'totp') return { username, password }[field]
  if (totpSecret === undefined) throw fail('conflict', 'this login has no authenticator key for one-time codes')
  const { Secret, TOTP } = await import('otpauth')
  return new TOTP({ secret: Secret.fromBase32(totpSecret) }).generate({ timestamp: now.getTime() })
}
