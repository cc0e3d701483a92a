import { isIP } from 'node:net'

/**
 * 4 or 6 for an IP address, 0 for anything else. Adapters use this instead of `node:net`: they connect through
 * `Outbound`.
 */
export const addressFamily = (text: string): number => isIP(text)

/** Whether all bits of the address after the first `bits` are zero. */
export function isNetwork(address: string, bits: number): boolean {
  const size = isIP(address) === 6 ? 128 : 32
  const host = size - bits
  return host === 0 || (numberOf(address) & ((1n << BigInt(host)) - 1n)) === 0n
}

/** An address as a number. */
function numberOf(address: string): bigint {
  if (isIP(address) === 4) return address.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n)
  // The URL parser writes the last 32 bits, which may be dotted, in hexadecimal.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text = '') => (text === '' ? [] : text.split(':'))
  const missing = 8 - groups(head).length - groups(tail).length
  const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)]
  return all.reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n)
}
