import { Failure } from './failure.ts'

/** Variables of this command. */
const own = [
  'SKERRY_TOKEN',
  'SKERRY_TOKEN_FILE',
  'SKERRY_CLIENT_ID',
  'SKERRY_CLIENT_SECRET',
  'SKERRY_PASSPHRASE_FILE',
  'SKERRY_STRICT',
  'SKERRY_KEYRING',
  'SKERRY_URL',
  'SKERRY_ORG',
  'SKERRY_APP',
  'SKERRY_ENV',
  'SKERRY_BRANCH',
  'SKERRY_PROFILE',
  'SKERRY_ALLOW_INSECURE',
  'SKERRY_PROXY_CONTROL_TOKEN',
  'SKERRY_TASK',
]

/** The variables of this command that name a file. Each of these files contains a credential. */
export const fileVariables = own.filter((name) => name.endsWith('_FILE'))

/** Variables of the server, the executor and the tests of this project, which may be set in the same environment. */
const others = [
  ...['HOST', 'PORT', 'BASE_URL', 'ALLOW_PLAINTEXT', 'TRUSTED_PROXIES', 'DATABASE_URL', 'DATABASE_POOL'],
  ...['DATABASE_SILENT_SECONDS', 'DATA_DIR', 'ADAPTER_PROCESSES'],
  ...['SERVER_KEY', 'SERVER_KEY_PREVIOUS', 'OIDC_ISSUER', 'OIDC_AUDIENCE', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'],
  ...[
    'SMTP_URL',
    'SMTP_CLEARTEXT',
    'MAIL_FROM',
    'SIGNUP',
    'ALLOW_PRIVATE_TARGETS',
    'PROVIDER_ORIGINS',
    'CORS_ORIGINS',
    'RATE_LIMITS',
  ],
  ...['CONNECTIONS_PER_ADDRESS', 'RESOLVE_CACHE_MB', 'RESOLVE_IN_FLIGHT_MB', 'ENVIRONMENT_SECRETS', 'ENVIRONMENT_MB'],
  ...['PLANS', 'STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_PRICES', 'LOG_LEVEL'],
  ...['EXECUTOR_TOKEN', 'EXECUTOR_STATE'],
  ...['REQUIRE_SERVICES', 'CRASH_ROUNDS', 'POSTGRES_BIN', 'SCREENSHOTS', 'PICTURES'],
].map((name) => `SKERRY_${name}`)

/** Variables that Kubernetes sets in every program for a service named skerry. */
const ofKubernetes = /^SKERRY_(SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/

/** Names that people try, because other tools use them. */
const aliases: Readonly<Record<string, string>> = {
  SKERRY_API_URL: 'SKERRY_URL',
  SKERRY_APPLICATION: 'SKERRY_APP',
  SKERRY_ENVIRONMENT: 'SKERRY_ENV',
  SKERRY_ORGANIZATION: 'SKERRY_ORG',
  SKERRY_SERVER: 'SKERRY_URL',
}

/** Refuses an unknown variable. Otherwise, with SKERRY_ENV_NAME=production, a command would use development. */
export function checkVariables(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) {
    if (!/^SKERRY_/i.test(name) || own.includes(name) || environment[name] === '') continue
    const upper = name.toUpperCase()
    if (name === upper && (others.includes(name) || ofKubernetes.test(name))) continue
    const meant = aliases[upper] ?? own.find((known) => isNear(upper, known)) ?? longestIn(upper)
    const advice = meant ? `is ${meant} meant?` : 'remove it from the environment; `skerry help` lists all variables'
    throw new Failure('usage', `${name} is set, but Skerry has no such variable`, advice)
  }
}

/** Finds SKERRY_ENV in SKERRY_ENV_NAME, and SKERRY_TOKEN in SKERRY_API_TOKEN. */
const longestIn = (name: string): string | undefined =>
  own.filter((known) => `${name}_`.includes(`${known.slice('SKERRY'.length)}_`)).sort((a, b) => b.length - a.length)[0]

/** Whether two names differ by at most two letters (short names: one), or by two adjacent letters that are swapped. */
function isNear(a: string, b: string): boolean {
  const allowed = b.length > 'SKERRY_TOKEN'.length ? 2 : 1
  return areSwapped(a, b) || (Math.abs(a.length - b.length) <= allowed && editDistance(a, b) <= allowed)
}

function areSwapped(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, i) => letter !== b[i])
  return a.slice(0, at) + a[at + 1] + a[at] + a.slice(at + 2) === b
}

/** The Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (letter === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
