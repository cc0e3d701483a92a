import { isLoopbackAddress } from '@skerry/contract/loopback'

/**
 * Browsers do not support passkeys for an IP address. If the page was opened at a loopback address such as 127.0.0.1,
 * this reopens it at localhost before anything else runs. Returns true if the page is about to move.
 */
export function redirectToLocalhost(): boolean {
  if (!isLoopbackAddress(location.hostname)) return false
  const named = new URL(location.href)
  named.hostname = 'localhost'
  location.replace(named)
  return true
}
