import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { networkError } from '@skerry/sdk/internal/transport'
import { isTold } from '@skerry/sdk/rollback'
import { credentialsPath } from './credentials.ts'
import { findUnlessBound } from './current-place.ts'
import { Failure, nextOfCode, redact, toFailure } from './failure.ts'
import { cacheFolder } from './folders.js'
import { openWithGroups } from './grants.ts'
import { knownDirectory } from './known-directories.ts'
import { isStrict, RollbackHere } from './known-state.ts'
import { boundPlace, type Place } from './places.ts'
import { openSession, type Session, userAgent } from './session.ts'
import { type Flags, readSettings, type Settings } from './settings.ts'

/** The result of one check; `next` says how to fix the problem. */
export interface Check {
  what: string
  state: 'ok' | 'warn' | 'fail'
  message: string
  next?: string
}

const nodeMajor = 24
/** Other commands advise to run doctor, which has to say more. */
const lostKeyNext =
  'run `skerry keys status`; if you replaced your keys on another machine, run `skerry keys trust`, and otherwise ask somebody who can read the environment to grant its key again'
const skewWarnSeconds = 60

/** Checks everything between this machine and a secret, in the order in which it must work. */
export async function* checkAll(flags: Flags): AsyncGenerator<Check> {
  yield checkNode()
  // Check file modes first, because reading the settings corrects them.
  yield checkCredentialsFile()
  yield checkMode('credentials folder', dirname(credentialsPath()), 'chmod 700')
  yield checkMode('cache folder', cacheFolder(), 'chmod 700')
  const settings = attempt('settings', () => readSettings(flags))
  if (isCheck(settings)) return yield settings
  yield checkProject(settings)
  const reached = await checkServer(settings)
  yield* reached
  if (reached.some((check) => check.state === 'fail')) return
  const session = await attemptAsync('credential', () => openSession(flags))
  if (isCheck(session)) return yield session
  const known = await checkCredential(session)
  yield known
  if (known.state === 'fail') return
  const bound = settings.scopeIsExplicit ? undefined : await boundPlace(session).catch(() => undefined)
  yield* checkBinding(settings, bound)
  yield* await checkDirectory(session)
  yield await checkKey(session, flags)
}

function checkNode(): Check {
  const what = 'Node.js'
  const { node } = process.versions
  if (Number(node.split('.')[0]) >= nodeMajor) return { what, state: 'ok', message: node }
  return {
    what,
    state: 'warn',
    message: `${node} is older than ${nodeMajor}`,
    next: 'run skerry through npx in its folder',
  }
}

/**
 * Warns and does not fail, because the next check reads the file and thereby sets its mode to 0600. Until then, other
 * users may have read the file.
 */
function checkCredentialsFile(): Check {
  const check = checkMode('credentials file', credentialsPath(), 'chmod 600')
  if (check.state === 'ok') return check
  return {
    ...check,
    state: 'warn',
    next: 'other users can no longer read it; if they may have read it before, create a new token and revoke the old one',
  }
}

function checkMode(what: string, path: string, mend: string): Check {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  if (mode === undefined) return { what, state: 'ok', message: `${path} does not exist yet` }
  const octal = (mode & 0o777).toString(8).padStart(4, '0')
  if ((mode & 0o077) === 0) return { what, state: 'ok', message: `${path} (${octal})` }
  return { what, state: 'fail', message: `other users can read ${path} (${octal})`, next: `${mend} ${path}` }
}

function checkProject({ found, app, env, credential }: Settings): Check {
  const what = 'skerry.json'
  if (!found && credential.from === 'environment')
    return { what, state: 'ok', message: 'not found; a token for one environment needs none' }
  if (!found)
    return { what, state: 'warn', message: 'not found here or above', next: 'run `skerry init` in the project' }
  return { what, state: 'ok', message: `${found.file}: ${app ?? 'no application'}/${env ?? 'no environment'}` }
}

async function checkServer({ url }: Settings): Promise<Check[]> {
  const what = 'server'
  try {
    const before = Date.now()
    const live = await fetch(`${url}/health`, {
      headers: { 'user-agent': userAgent },
      redirect: 'manual',
      signal: AbortSignal.timeout(8000),
    })
    const tookMs = Date.now() - before
    if (!live.ok)
      return [{ what, state: 'fail', message: `${url} answered ${live.status}`, next: 'is it a Skerry server?' }]
    const isOurs = await live.json().then(
      (body) => body?.status === 'ok',
      () => false,
    )
    if (!isOurs)
      return [
        { what, state: 'fail', message: `${url} answered, but it is not a Skerry server`, next: 'check the address' },
      ]
    return [
      { what, state: 'ok', message: `${url} answered in ${tookMs} ms` },
      await checkDatabase(url),
      checkClock(live.headers.get('date'), before + tookMs / 2),
    ]
  } catch (error) {
    const failure = networkError(error, url)
    const untrusted = failure.code === 'untrusted_certificate' ? toFailure(failure).next : undefined
    const next = untrusted ?? 'start the server, or set the address with --url or SKERRY_URL'
    return [{ what, state: 'fail', message: failure.message, next }]
  }
}

async function checkDatabase(url: string): Promise<Check> {
  const what = 'database'
  const next = 'look into the server’s log'
  const ask = async (path: string) =>
    (await fetch(`${url}${path}`, { redirect: 'manual', signal: AbortSignal.timeout(8000) })).status
  const reads = await ask('/ready')
  if (reads !== 200) return { what, state: 'fail', message: `not ready (${reads})`, next }
  // A server of an earlier release does not have the path.
  return (await ask('/ready/writes')) >= 500
    ? { what, state: 'warn', message: 'the server accepts no writes now; reads work', next }
    : { what, state: 'ok', message: 'ready' }
}

/** Compares the clocks, because expiry and the age of cached copies depend on both. HTTP dates are whole seconds. */
function checkClock(date: string | null, nowMs: number): Check {
  const what = 'clock'
  const serverMs = date === null ? Number.NaN : Date.parse(date)
  if (Number.isNaN(serverMs)) return { what, state: 'warn', message: 'the server does not send its time' }
  const skew = Math.round((nowMs - serverMs) / 1000)
  if (Math.abs(skew) <= skewWarnSeconds) return { what, state: 'ok', message: 'agrees with the server' }
  const message = `${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} the server`
  return { what, state: 'warn', message, next: 'set both clocks by NTP' }
}

async function checkCredential(session: Session): Promise<Check> {
  const answer = await attemptAsync('credential', async () => {
    const { orgs } = await session.client.me.get()
    const org = await session.org()
    const { name } = session.principal
    const { role } = orgs.find((one) => one.id === org.id) ?? {}
    if (role === undefined)
      throw new Failure(
        'refused',
        `${name} is no member of ${org.slug}`,
        'see `skerry whoami`; an admin can invite you',
      )
    return `${name} is ${role} of ${org.slug}`
  })
  return isCheck(answer) ? answer : { what: 'credential', state: 'ok', message: answer }
}

/** The environment of a bound token comes before the project's file, which may surprise somebody who reads the file. */
function checkBinding({ found, app, env }: Settings, bound: Place | undefined): Check[] {
  const what = 'token'
  if (!bound) return []
  const named = `${app}/${env}`
  if (!found || env === undefined || named === bound.label)
    return [{ what, state: 'ok', message: `bound to ${bound.label}` }]
  const message = `bound to ${bound.label}, which commands use here instead of ${named} in skerry.json`
  return [{ what, state: 'warn', message, next: `use another credential to work on ${named}` }]
}

/** Warns where a credential works without its pin, for example a token whose text was cut off: nothing else tells it. */
async function checkDirectory(session: Session): Promise<Check[]> {
  const what = 'signed directory'
  const answer = await attemptAsync(what, async (): Promise<Check[]> => {
    const { id: orgId, slug } = await session.org()
    const { known, pins } = knownDirectory(session.settings, orgId)
    if (session.pinned || known || pins.length > 0)
      return [{ what, state: 'ok', message: `this machine or this credential has the pin of ${slug}` }]
    const { directory } = await session.client.directory.get({ params: { orgId } }).catch(noDirectoryIfOlder)
    if (directory === null) return []
    const message = `${slug} has one, but this machine has no pin of it, so commands do not check the keys that the server shows`
    const next =
      'ask a colleague for the output of `skerry trust pin`, and run `skerry trust pin <pin>`; for a token, check that you copied all of it'
    return [{ what, state: 'warn', message, next }]
  })
  return isCheck(answer) ? [answer] : answer
}

function noDirectoryIfOlder(error: unknown): { directory: null } {
  if ((error as { code?: unknown }).code === 'old_server') return { directory: null }
  throw error
}

/** Checks the key of the environment that `run` would use. */
async function checkKey(session: Session, flags: Flags): Promise<Check> {
  const what = 'key'
  const { app, env, branch } = session.settings
  const answer = await attemptAsync(what, async () => {
    if ((app === undefined || env === undefined) && (await isUnbound(session))) return 'no environment is named'
    const place = await findUnlessBound(session, flags, { env, branch })
    const places = await openWithGroups(session, place)
    const { changesOf } = await import('./trust.ts')
    const { changes } = await changesOf(session, { flags, place })
    const refused = isStrict() ? changes : changes.filter((change) => !isTold(change))
    if (refused.length > 0) throw new RollbackHere(refused, place.label, flags.profile)
    return `this credential can read ${places.map(({ label }) => label).join(', ')}`
  })
  if (!isCheck(answer)) return { what, state: 'ok', message: answer }
  return answer.next === nextOfCode.decryption_failed ? { ...answer, next: lostKeyNext } : answer
}

async function isUnbound(session: Session): Promise<boolean> {
  try {
    return (await boundPlace(session)) === undefined
  } catch {
    return false
  }
}

const isCheck = (value: unknown): value is Check => typeof value === 'object' && value !== null && 'what' in value

function attempt<T>(what: string, work: () => T): T | Check {
  try {
    return work()
  } catch (error) {
    return failed(what, toFailure(error))
  }
}

async function attemptAsync<T>(what: string, work: () => Promise<T>): Promise<T | Check> {
  try {
    return await work()
  } catch (error) {
    return failed(what, toFailure(error))
  }
}

function failed(what: string, { message, next }: Failure): Check {
  return { what, state: 'fail', message: redact(message), ...(next === undefined ? {} : { next }) }
}
