import { Failure } from './failure.ts'

/** Variables of this command. */
const own = [
  'SKERRY_TOKEN',
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
]

/** Names that people try, because others call it so. */
const aliases: Readonly<Record<string, string>> = {
  SKERRY_API_URL: 'SKERRY_URL',
  SKERRY_APPLICATION: 'SKERRY_APP',
  SKERRY_ENVIRONMENT: 'SKERRY_ENV',
  SKERRY_ORGANIZATION: 'SKERRY_ORG',
  SKERRY_SERVER: 'SKERRY_URL',
}

/**
 * Refuses a variable that is nearly one of this command's: a mistyped SKERRY_ENV would run development in place of
 * production. What is far from all of them is the server's, or somebody else's.
 */
export function checkVariables(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) {
    if (!/^SKERRY_/i.test(name) || own.includes(name) || environment[name] === '') continue
    const meant = aliases[name.toUpperCase()] ?? own.find((known) => isNear(name.toUpperCase(), known))
    if (meant !== undefined) throw new Failure('usage', `there is no variable ${name}`, `is ${meant} meant?`)
  }
}

/** At most two letters were added, left out or taken for others; of a short word, one, or two neighbours changed places. */
function isNear(a: string, b: string): boolean {
  const allowed = b.length > 'SKERRY_TOKEN'.length ? 2 : 1
  return areSwapped(a, b) || (Math.abs(a.length - b.length) <= allowed && editDistance(a, b) <= allowed)
}

function areSwapped(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, i) => letter !== b[i])
  return a.slice(0, at) + a[at + 1] + a[at] + a.slice(at + 2) === b
}

/** Levenshtein's. */
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
