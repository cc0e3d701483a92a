import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie'
import type { Config } from '../config.ts'
import { fail } from '../kernel/errors.ts'

type Headers = Record<string, string | string[] | undefined>

/**
 * `__Host-` makes browsers refuse the cookie unless it came over TLS, from this very host and for all of it, so no
 * neighbouring subdomain can plant one. The price is `Path=/`, which costs nothing: scripts cannot read it, and only the
 * sign-in looks at it.
 */
const prefixed = (config: Config, name: string) => (isSecure(config) ? `__Host-${name}` : name)
const isSecure = ({ baseUrl }: Config) => baseUrl?.startsWith('https:') ?? false

export type CookieName = 'skerry' | 'skerry-external' | 'skerry-identity'

export function readCookie(config: Config, headers: Headers, name: CookieName): string | undefined {
  const header = headers.cookie
  return typeof header === 'string' ? parseCookie(header)[prefixed(config, name)] : undefined
}

/** A Set-Cookie line. `maxAge` in seconds; 0 removes it. */
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
 * What a cookie alone authorizes must come from a page of this server. SameSite=Strict keeps the cookie from other sites;
 * this also keeps out other origins of the same site, such as another port or subdomain. Browsers send one of both headers
 * with every POST and no script can set them.
 */
export function checkSameOrigin(config: Config, headers: Headers): void {
  const site = headers['sec-fetch-site']
  const own = config.baseUrl ? new URL(config.baseUrl).origin : null
  const fromHere = site === undefined ? headers.origin !== undefined && headers.origin === own : site === 'same-origin'
  if (!fromHere) throw fail('forbidden', 'this works from a page of this server only')
}
