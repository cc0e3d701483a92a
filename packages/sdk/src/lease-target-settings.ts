import { vendorName } from '@skerry/contract/vendors'

/** The settings of a lease target in a response of the server. */
export interface TargetSettings {
  /** The kind of the target, for example `postgres`. */
  provider: string
  /** The address to which leases connect, and other settings of a target of this kind. */
  config: object
}

/** One setting that has changed. A missing setting is undefined. */
export interface ChangedSetting {
  /** `connection.host`. */
  name: string
  was: string | undefined
  now: string | undefined
}

/**
 * Lists the settings of a lease target that have changed. A client connects to the address in them and sends a password
 * there, so a change of address, port or TLS mode always matters.
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

/** The provider is in both, by its vendor's name. A change in either of them is found. */
const settingsOf = ({ provider, config }: TargetSettings) => ({
  ...config,
  ...('provider' in config ? { provider: vendorName(String(config.provider)) } : {}),
  kind: vendorName(provider),
})

/** Lists the text of each setting by its path. A database does not keep the order of an object's members. */
function flat(path: string, value: unknown): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new Map([[path, typeof value === 'string' ? value : JSON.stringify(value)]])
  return new Map(
    Object.entries(value).flatMap(([name, member]) => [...flat(path === '' ? name : `${path}.${name}`, member)]),
  )
}

/** The longest value that is shown. Longer values, such as certificates, are left out. */
const readableMax = 100

/**
 * Describes changed settings.
 *
 * @example
 * const change = { name: 'connection.host', was: 'db.example.com', now: 'evil.example.com' }
 * wordsOfSettings([change]) // 'connection.host is evil.example.com (was db.example.com)'
 */
export const wordsOfSettings = (changed: readonly ChangedSetting[]): string =>
  changed
    .map(({ name, was = 'not set', now = 'not set' }) =>
      was.length > readableMax || now.length > readableMax
        ? `${name} has another value`
        : `${name} is ${now} (was ${was})`,
    )
    .join(', ')
