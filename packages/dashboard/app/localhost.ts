import { isLoopbackAddress } from '@skerry/contract/loopback'

/**
 * Browsers know no passkeys for an IP address. A server on this machine that is called 127.0.0.1 is also called localhost,
 * so the page moves there before it does anything else. Returns whether it moves.
 */
export function redirectToLocalhost(): boolean {
  if (!isLoopbackAddress(location.hostname)) return false
  const named = new URL(location.href)
  named.hostname = 'localhost'
  location.replace(named)
  return true
}
