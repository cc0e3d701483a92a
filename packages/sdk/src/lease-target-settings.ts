/** What says where a lease leads and how: the settings of its target, as the server shows them. */
export interface TargetSettings {
  provider: string
  config: object
}

/** One setting that is not what it was. A setting that is not there is undefined. */
export interface ChangedSetting {
  /** `connection.host`. */
  name: string
  was: string | undefined
  now: string | undefined
}

/**
 * The settings of a lease target that differ from those of before. A client connects to the address in them and sends a
 * password there, so another address, port or TLS mode is never without meaning.
 *
 * @example const [first] = changedSettings({ provider: 'postgres', config }, target) // { name: 'connection.host', was: '…', now: '…' }
 */
export function changedSettings(before: TargetSettings, after: TargetSettings): ChangedSetting[] {
  const [was, now] = [flat('', settingsOf(before)), flat('', settingsOf(after))]
  const names = [...new Set([...was.keys(), ...now.keys()])].sort()
  return names
    .filter((name) => was.get(name) !== now.get(name))
    .map((name) => ({ name, was: was.get(name), now: now.get(name) }))
}

/** The provider stands in both places; a server that differs in one of them differs. */
const settingsOf = ({ provider, config }: TargetSettings) => ({ ...config, kind: provider })

/** By path, the text of each setting. A database keeps the members of an object in another order than they were sent. */
function flat(path: string, value: unknown): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new Map([[path, typeof value === 'string' ? value : JSON.stringify(value)]])
  return new Map(
    Object.entries(value).flatMap(([name, member]) => [...flat(path === '' ? name : `${path}.${name}`, member)]),
  )
}

/** Certificates are too long to be read. */
const readableMax = 100

/**
 * Changed settings in words.
 *
 * @example
 * const change = { name: 'connection.host', was: 'db.example.com', now: 'evil.example.com' }
 * wordsOfSettings([change]) // 'connection.host is evil.example.com (was db.example.com)'
 */
export const wordsOfSettings = (changed: readonly ChangedSetting[]): string =>
  changed
    .map(({ name, was = 'not set', now = 'not set' }) =>
      was.length > readableMax || now.length > readableMax
        ? `${name} is another one`
        : `${name} is ${now} (was ${was})`,
    )
    .join(', ')
