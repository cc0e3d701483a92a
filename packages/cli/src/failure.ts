import { formatDuration } from './units.ts'
import { hintOfRefusal, hintOfUnreachable, usesCredential } from './used-credential.ts'

/**
 * Exit codes, documented for scripts: they never change their meaning.
 *
 * `skerry run` exits with the program's own code, whatever it is.
 */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  conflict: 5,
  unavailable: 6,
  notExecutable: 126,
  commandNotFound: 127,
  interrupted: 130,
} as const

export type FailureKind = Exclude<keyof typeof exitCodes, 'ok'>

/** An error that says what to do next. Its message is for people and contains no value, token or secret. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly kind: FailureKind
  readonly next: string | undefined

  constructor(kind: FailureKind, message: string, next?: string) {
    super(message)
    this.kind = kind
    this.next = next
  }
}

/** The credential has no key to an environment. */
export class NoKeyFailure extends Failure {}

export const usage = (message: string, next?: string) => new Failure('usage', message, next)

/**
 * Maps an error code to the kind of failure, which sets the exit code. A code that is not listed is a plain failure.
 */
export const kindOfCode: Readonly<Record<string, FailureKind>> = {
  invalid_request: 'failure',
  unauthorized: 'refused',
  forbidden: 'refused',
  mfa_required: 'refused',
  quota_exceeded: 'refused',
  not_found: 'notFound',
  conflict: 'conflict',
  rate_limited: 'unavailable',
  internal: 'unavailable',
  unavailable: 'unavailable',
  untrusted_certificate: 'unavailable',
  timeout: 'unavailable',
  offline: 'unavailable',
  malformed_token: 'refused',
  kdf_too_weak: 'refused',
  kdf_too_strong: 'refused',
  rollback: 'refused',
  own_key_replaced: 'refused',
  directory_malformed: 'refused',
  directory_unsupported: 'refused',
  directory_other_org: 'refused',
  directory_unpinned: 'refused',
  directory_broken_chain: 'refused',
  directory_unsigned: 'refused',
  directory_rolled_back: 'refused',
  directory_stale: 'refused',
  directory_from_future: 'refused',
  directory_too_weak: 'refused',
  directory_unproven: 'refused',
  directory_missing: 'refused',
  directory_mismatch: 'refused',
  malformed_pin: 'refused',
  not_authentic: 'refused',
  authentic_expired: 'refused',
}

const distrust = 'do not use this server, and tell your organization’s owner'
const signFirst =
  'if someone on your team made this change, ask a signer to run `skerry trust sign`; otherwise do not use this server'

/** The next step for an error code, for messages and documents. */
export const nextOfCode: Readonly<Record<string, string>> = {
  unauthorized: 'check the credential with `skerry whoami`, or sign in again with `skerry login`',
  forbidden: 'use a credential with this permission; `skerry whoami` shows the current one',
  untrusted_certificate:
    'set NODE_EXTRA_CA_CERTS to a file with the certificate of your authority (PEM), and run the command again',
  old_server: 'ask the operator to upgrade the server',
  internal: 'check the server’s log, and try again',
  rate_limited: 'wait a moment and try again',
  malformed_token: 'check that you copied the whole token',
  kdf_too_weak: 'do not enter your passphrase for this server: it may be trying to guess the passphrase',
  kdf_too_strong: 'do not enter your passphrase for this server: it may be trying to overload this machine',
  malformed_answer: 'check with `skerry doctor` that the address belongs to a Skerry server',
  own_key_replaced: distrust,
  directory_unsupported: 'upgrade this program',
  directory_other_org: distrust,
  directory_unpinned: 'run `skerry trust pin`, and compare the pin with the pin of a colleague',
  directory_broken_chain: distrust,
  directory_unsigned: distrust,
  directory_rolled_back:
    'if the operator restored an older backup, run `skerry trust pin <pin> --restored`, or without the pin if nobody else has one; otherwise do not use this server',
  directory_stale: 'check the clock of this machine; if the clock is right, ask a signer to run `skerry trust sign`',
  directory_from_future: 'check the clock of this machine',
  directory_too_weak: 'use a token that `skerry token create` makes',
  directory_unproven: signFirst,
  directory_missing:
    'if the operator went back to an older release of the server, ask the operator to upgrade it; otherwise do not use this server',
  directory_mismatch: signFirst,
  malformed_pin: 'copy the whole line that `skerry trust pin` prints',
  decryption_failed: 'run `skerry doctor` to check the key of this environment',
  reference_cycle:
    'show the stored texts with `skerry secrets get <NAME> --stored`, and fix one with `skerry secrets set`',
  reference_too_large:
    'show the stored text with `skerry secrets get <NAME> --stored`, and fix it with `skerry secrets set`',
}

/** Maps the fields of requests to command-line options. A field that is not listed is shown by its own name. */
const nameOnCommandLine: Readonly<Record<string, string>> = {
  actorId: '--actor',
  alphabet: '--alphabet',
  alternateUsername: '--alternate-username',
  approvals: '--approvals',
  code: 'the code',
  email: 'the e-mail address',
  expiresAt: '--expires',
  intervalSeconds: '--every',
  length: '--length',
  label: '--label',
  limit: '--limit',
  maxTtlSeconds: '--max-ttl',
  name: 'the name',
  note: '--note',
  orgName: 'the name',
  orgSlug: 'the slug',
  placement: '--placement',
  plan: 'the plan',
  provisionerTokenId: '--provisioner',
  requestedById: '--by',
  requestId: '--request',
  requiredApprovals: '--approvals',
  resourceId: '--resource',
  resourceType: '--resource-type',
  scopes: '--scope',
  slug: 'the slug',
  since: '--since',
  statements: '--statement',
  targetId: '--target',
  ttlSeconds: '--ttl',
  until: '--until',
  userHost: '--user-host',
  username: '--username',
  with: '--with',
}

/** Turns any thrown value into a failure with a message, a hint and an exit code. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  const { code, message, next } = (error ?? {}) as { code?: unknown; message?: unknown; next?: unknown }
  const name = typeof code === 'string' ? code : ''
  // A bug of skerry, or an answer that no server of this version gives. The JavaScript engine's message alone helps
  // nobody.
  if (error instanceof TypeError || error instanceof RangeError) return unexpected(message)
  const text = typeof message === 'string' && message !== '' ? message : 'something unexpected happened'
  const badOption = name === 'invalid_request' ? optionProblem(firstLine(text)) : undefined
  if (badOption !== undefined) return usage(badOption)
  const told = firstLine(text) === 'no such org' ? noOrg : withoutPlace(firstLine(text))
  // The message of the server already says when to try again.
  const isRepeated = name === 'rate_limited' && told.includes('again in')
  const hint = typeof next === 'string' ? next : isRepeated ? undefined : hintOf(name, told)
  return new Failure(rowOf(kindOfCode, name) ?? 'failure', told, hint)
}

/** The server answers somebody who was removed like somebody who asks for an organization that never existed. */
const noOrg = 'you are not a member of this organization any more, or it was deleted'

/** The next step for a refusal of the server, by its message. */
const nextOfMessage: Readonly<Record<string, string>> = {
  'no payment provider is configured': 'the operator of the server sets one up: /docs/plans/ of the server says how',
  'no such access request': '`skerry access ls` shows the open ones',
  'no such change request': '`skerry changes ls --status any` shows all of them',
  'no such lease': '`skerry lease ls` shows them',
  'no such recovery request': '`skerry recovery status` shows the current one',
  'no such task': '`skerry agent tasks <agent>` shows them',
  'signing up is closed on this server: its operator opens it with SKERRY_SIGNUP=open':
    'the set-up link in the log of a new server makes the first organization; in an existing one, an admin can invite you',
  'only a signed-in person may do this': 'sign in with `skerry login`',
  'the e-mail address: an invitation is already open': '`skerry invite resend <email>` sends it again',
  'this promo code does not exist or has expired': 'check its spelling, or ask for another one',
}

function hintOf(code: string, told: string): string | undefined {
  const known = rowOf(nextOfMessage, told)
  if (known !== undefined) return known
  if (/ has this (?:name|slug) already$/.test(told)) return 'choose another one'
  if (told.startsWith('the slug is already in use')) return 'choose another one with --slug'
  // Another credential would be refused, too.
  if (code === 'forbidden' && told.endsWith(' is disabled')) return 'enable it first, or ask an admin to do so'
  if (code === 'forbidden' && /^this key (?:cannot be used|is) /.test(told)) return '`skerry kms ls` shows the keys'
  if (code === 'forbidden' && told.startsWith('this task has ')) return 'dispatch another one'
  if (code === 'forbidden' && told.startsWith('someone else has to approve'))
    return 'ask another admin: `skerry members ls` shows them'
  if (told === noOrg) return 'see `skerry whoami` for your organizations; an admin can invite you again'
  if (code === 'forbidden' && told.endsWith(' a share of the recovery key'))
    return 'ask a custodian; `skerry recovery status` lists them'
  const [, override] = /^your personal override cannot be decrypted: secret (ovr_\w+)/.exec(told) ?? []
  if (override !== undefined)
    return `remove it with \`skerry secrets override ${override} --remove\`; \`skerry run --no-overrides\` starts without it`
  if (code === 'unavailable') return hintOfUnreachable()
  // Without a credential, another one would not help.
  if (code === 'forbidden' && !usesCredential()) return undefined
  return (code === 'unauthorized' ? hintOfRefusal() : undefined) ?? rowOf(nextOfCode, code)
}

/** `query.limit: must be <= 200` -> `--limit must be at most 200`; undefined if no option sets the field. */
function optionProblem(text: string): string | undefined {
  const [, field = '', problem = ''] = /^(?:body|query)\.(\w+): (.*)/.exec(text) ?? []
  const option = rowOf(nameOnCommandLine, field)
  if (option === undefined) return undefined
  const words = field.endsWith('Seconds') ? inUnits(inWords(problem)) : inWords(problem)
  return /^(?:must|is|has|does|contains|cannot) /.test(words) ? `${option} ${words}` : `${option}: ${words}`
}

/** Replaces the path of a request field with its option, because the user knows neither the request nor its fields. */
function withoutPlace(text: string): string {
  const [, path, problem] = /^((?:body|query|params)\.[\w.]+|\w+): (.*)/s.exec(text) ?? []
  if (path === undefined || problem === undefined) return inWords(text)
  const field = path.split('.').at(-1)!
  const taken = /^(another \w+) uses it$/.exec(problem)?.[1]
  if (taken !== undefined) return `${taken} has this ${field} already`
  const name = rowOf(nameOnCommandLine, field) ?? field
  return problem.startsWith('is already in use') ? `${name} ${problem}` : `${name}: ${inWords(problem)}`
}

const inWords = (text: string): string =>
  text
    .replace(/\bmust match pattern (.*)/, (_, pattern) => formatIn(pattern))
    .replace('must not have fewer than 1 characters', 'must not be empty')
    .replace('must be <= ', 'must be at most ')
    .replace('must be >= ', 'must be at least ')
    .replace(/^its unused last bits are not zero$/, 'a character is wrong or missing')
    .replace(/\bby force\b/, 'with --force')
    .replace(/\bpurge some, or delete without keepFor$/, 'delete some for good with `skerry secrets rm <NAME> --purge`')
    .replace(/\b(\d+) s\b/g, (_, seconds) => formatDuration(Number(seconds)))

/** Says what the text must be that a pattern of the API refused. */
function formatIn(pattern: string): string {
  if (pattern.includes('@')) return 'must be an e-mail address, such as ada@example.com'
  return pattern.includes('^[^\\u0000')
    ? 'must not contain line breaks or other control characters'
    : 'has a character that is not allowed in it'
}

const inUnits = (text: string): string => text.replace(/\d+$/, (seconds) => formatDuration(Number(seconds)))

function unexpected(message: unknown): Failure {
  const text = `skerry did not understand the server’s answer, or has a bug (${firstLine(String(message))})`
  return new Failure('failure', text, 'check the server with `skerry doctor`; --debug shows where it happened')
}

/** True for a refusal of the server because the caller holds no key of an environment. */
export const lacksKey = (error: unknown): boolean => isRefusedWith(error, noKeyGrant)

/** True for a refusal of a bound token because of the environment that the request names. */
export const isBoundElsewhere = (error: unknown): boolean =>
  isRefusedWith(error, 'this token is bound to another environment')

const noKeyGrant = 'you hold no key grant on '

/** The environments without a key. The server names them by their slugs, and those of groups as `group:slug`. */
export const missingIn = (error: unknown): string[] =>
  messageOf(error)
    .replace(new RegExp(`^.*${noKeyGrant}`), '')
    .split(', ')

const isRefusedWith = (error: unknown, words: string): boolean =>
  (error as { code?: unknown } | undefined)?.code === 'forbidden' && messageOf(error).includes(words)

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '')

/** The code comes from the server and could be `constructor`, so only own properties are read. */
const rowOf = <T>(table: Readonly<Record<string, T>>, code: string): T | undefined =>
  Object.hasOwn(table, code) ? table[code] : undefined

/** Says in one line what happened and what to do. A semicolon joins the two parts unless both are whole sentences. */
export function describe({ message, next }: Failure): string {
  const whole = shorten(redact(message))
  if (next === undefined) return whole
  const areSentences = message.endsWith('.') && /^[A-Z]/.test(next)
  return `${whole}${areSentences ? ' ' : '; '}${shorten(redact(next))}`
}

/** Cuts words that nobody types, such as a file that was given as a name. Messages repeat what the user gave. */
const shorten = (text: string): string =>
  text.replace(/[^\s'`]{300,}/gu, (word) => `${[...word].slice(0, 40).join('')}… (${word.length} characters)`)

/**
 * Redacts credentials in a text. No message should contain one. This is a second line of defence for messages from
 * elsewhere, which may repeat their input.
 */
export function redact(text: string): string {
  return text
    .replace(/\b(skt_[0-9A-Za-z]{22})_[A-Za-z0-9_-]+/g, '$1_***')
    .replace(/\b(sk[a-z]_)[A-Za-z0-9_-]{24,}/g, '$1***')
    .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '***')
    .replace(/\b(Bearer|Basic) +[A-Za-z0-9._~+/=-]+/g, '$1 ***')
}

const firstLine = (text: string) => text.split('\n', 1)[0] ?? ''
