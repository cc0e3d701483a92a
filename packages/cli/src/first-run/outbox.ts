import { readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLoopback } from '@skerry/contract/loopback'

// A server without SMTP writes mails as files into the folder `outbox` of its data directory. This module reads the link
// of an invitation there. It gives nobody more than they had: the server opens the folder to its own user alone, and that
// user could also open the mail by hand. Over a network, or as another user, there is nothing to read.

const waitMs = 10_000
const pauseMs = 50

/** The outbox of a server on this machine, and the mails that it held before the invitation was made. */
export interface Outbox {
  folder: string
  before: ReadonlySet<string>
}

/**
 * Finds the outbox of the server at `url`: in SKERRY_DATA_DIR, or in `.skerry` of this folder or of one above it.
 * Undefined for a server on another machine, and where no such folder belongs to this user alone.
 */
export function findOutbox(url: string, folder: string): Outbox | undefined {
  if (!isLoopback(new URL(url).hostname)) return undefined
  const { SKERRY_DATA_DIR } = process.env
  const found = SKERRY_DATA_DIR ? ownFolder(resolve(SKERRY_DATA_DIR)) : above(resolve(folder))
  // The server makes the folder with its first mail.
  return found === undefined
    ? undefined
    : { folder: join(found, 'outbox'), before: new Set(list(join(found, 'outbox'))) }
}

function above(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = ownFolder(join(at, '.skerry'))
    if (found !== undefined || at === homedir() || dirname(at) === at) return found
  }
}

/** Another user, or a folder that others can write to, could plant a mail. */
function ownFolder(path: string): string | undefined {
  try {
    const { uid, mode } = statSync(path)
    return uid === process.getuid?.() && (mode & 0o077) === 0 ? path : undefined
  } catch {
    return undefined
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Waits for the mail to `email`, and returns its link. Undefined if none comes, or if its link leads elsewhere. */
export async function waitForLink(outbox: Outbox, url: string, email: string): Promise<string | undefined> {
  for (let waited = 0; waited < waitMs; waited += pauseMs) {
    for (const name of list(outbox.folder)) {
      if (outbox.before.has(name) || !name.endsWith('.eml')) continue
      const link = linkIn(readMail(join(outbox.folder, name)), email)
      if (link !== undefined) return leadsTo(url, link) ? link : undefined
    }
    await sleep(pauseMs)
  }
  return undefined
}

function readMail(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function linkIn(mail: string, email: string): string | undefined {
  const [head = '', ...text] = mail.split('\n\n')
  if (!head.split('\n').includes(`To: ${email.toLowerCase()}`)) return undefined
  return /^https?:\/\/\S+\/sign-in\/link#[\w-]{43}$/m.exec(text.join('\n\n'))?.[0]
}

/** A server on this machine may write `localhost` in its links, and be called by its number. */
function leadsTo(url: string, link: string): boolean {
  const [called, named] = [new URL(url), new URL(link)]
  return called.origin === named.origin || (isLoopback(named.hostname) && called.port === named.port)
}
