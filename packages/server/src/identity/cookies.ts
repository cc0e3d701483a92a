import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie'
import type { Config } from '../config.ts'
import { fail } from '../kernel/errors.ts'

type Headers = Record<string, string | string[] | undefined>

/**
 * With `__Host-`, browsers accept the cookie only over TLS, from exactly this host, and for all its paths. So a
 * neighbouring subdomain cannot set one. It requires `Path=/`, which does no harm: scripts cannot read the cookie, and
 * only the sign-in uses it.
 */
const prefixed = (config: Config, name: string) => (isSecure(config) ? `__Host-${name}` : name)
const isSecure = ({ baseUrl }: Config) => baseUrl?.startsWith('https:') ?? false

export type CookieName = 'skerry' | 'skerry-external' | 'skerry-identity'

export function readCookie(config: Config, headers: Headers, name: CookieName): string | undefined {
  const header = headers.cookie
  return typeof header === 'string' ? parseCookie(header)[prefixed(config, name)] : undefined
}

/** Builds a Set-Cookie header. `maxAge` is in seconds; 0 deletes the cookie. */
export const cookieLine = (
  config: Config,
  name: CookieName,
  value: string,
  more: Pick<SetCookie, 'sameSite'> & { maxAge: number },
): string =>
  stringifySetCookie({
    name: prefixed(config, name),
    value,
    path: '/',
    httpOnly: true,
    secure: isSecure(config),
    ...more,
  })

/**
 * A request that a cookie alone authorizes must come from a page of this server. SameSite=Strict keeps the cookie from
 * other sites. This check also refuses other origins of the same site, such as another port or subdomain. Browsers send
 * one of the two headers with every POST, and no script can set them.
 */
export function checkSameOrigin(config: Config, headers: Headers): void {
  const site = headers['sec-fetch-site']
  const own = config.baseUrl ? new URL(config.baseUrl).origin : null
  const fromHere = site === undefined ? headers.origin !== undefined && headers.origin === own : site === 'same-origin'
  if (!fromHere) throw fail('forbidden', 'only a page of this server may send this request')
}
