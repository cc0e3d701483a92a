import { isLoopback } from '@skerry/contract/loopback'
import { fail } from '../../kernel/errors.ts'

/** https; for development on one machine also http on the loopback interface. Without a user in it. */
function readUrl(text: string, place: string): URL {
  const url = URL.parse(text)
  if (!url) throw fail('invalid_request', `${place}: is not a URL`)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw fail('invalid_request', `${place}: must start with https://`)
  if (url.username || url.password) throw fail('invalid_request', `${place}: has credentials in it`)
  return url
}

/** An origin in its one spelling, with nothing behind it. */
export function readOrigin(text: string, place: string): string {
  const url = readUrl(text, place)
  if (text !== url.origin && text !== `${url.origin}/`)
    throw fail('invalid_request', `${place}: is not an origin, such as https://app.example.com`)
  return url.origin
}

/** Where a person is sent back to: as it was given, on an origin that the project has registered. */
export function readReturnUrl(text: string, origins: readonly string[], place: string): string {
  const { origin, href } = readUrl(text, place)
  if (!origins.includes(origin)) throw fail('invalid_request', `${place}: its origin is not registered on the project`)
  return href
}

/** For links that people are shown. */
export function checkHttps(text: string | undefined, place: string): void {
  if (text !== undefined && readUrl(text, place).protocol !== 'https:')
    throw fail('invalid_request', `${place}: must start with https://`)
}
